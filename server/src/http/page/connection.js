// One WebSocket, and which answer belongs to which request.

/** Told of what happens: `state(text, name)`, `sent(frame)`, `received(frame, message, request)`, `stream(bytes)`. */
export class Connection {
  constructor(listener) {
    this.listener = listener;
    this.waiting = [];
  }

  get isOpen() {
    return this.socket?.readyState === WebSocket.OPEN;
  }

  /** Connects; the promise is kept when the socket is open. */
  open(address) {
    this.close();
    this.waiting = [];
    return new Promise((resolve, reject) => {
      const socket = new WebSocket(address);
      socket.binaryType = 'arraybuffer';
      this.socket = socket;
      const isCurrent = () => this.socket === socket;
      this.listener.state('connecting', 'connecting');
      socket.onopen = () => {
        this.listener.state('connected, not logged in', 'open');
        resolve();
      };
      socket.onmessage = ({ data }) => isCurrent() && this.take(data);
      socket.onclose = ({ code, reason }) => {
        const why = reason || (code === 1006 ? 'the server cannot be reached, or refused the connection' : '');
        if (isCurrent()) this.listener.state(`closed (${code})${why && `: ${why}`}`, 'closed');
        reject(new Error(why || `closed with code ${code}`));
      };
    });
  }

  close() {
    this.socket?.close(1000);
  }

  /** Sends a message, given as JSON text; the message is what its answers are told apart by. */
  send(text) {
    const message = JSON.parse(text);
    this.waiting.push(message);
    this.socket.send(text);
    this.listener.sent(text, message);
    return message;
  }

  /** Sends a binary frame. */
  sendBytes(bytes) {
    this.socket.send(bytes);
    this.listener.sent(bytes);
  }

  take(data) {
    if (data instanceof ArrayBuffer) {
      this.listener.received(data, undefined, this.streaming);
      return;
    }
    const message = JSON.parse(data);
    const request = this.requestOf(message);
    if (message.type === 'result_start') this.streaming = request;
    if (message.type === 'result_end' || message.type === 'error') this.streaming = undefined;
    this.listener.received(data, message, request);
  }

  /** By id; the oldest without one otherwise. What is told unasked answers nothing, as errors that end the connection. */
  requestOf(message) {
    if (isUnasked(message)) return undefined;
    const same = (request) => request.id === message.id || (request.id === null && message.id === undefined);
    const found = this.waiting.findIndex(same);
    if (found < 0) return undefined;
    const goesOn = message.type === 'result_start' || message.type === 'result_chunk';
    return goesOn ? this.waiting[found] : this.waiting.splice(found, 1)[0];
  }
}

/** Notifications, and what is told of live queries. */
const isUnasked = (message) =>
  'seq' in message || ['delta', 'progress'].includes(message.type) || (message.type === 'unsubscribed' && message.error !== undefined);
