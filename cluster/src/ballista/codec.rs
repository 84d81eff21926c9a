//! `Codec`: our operators as messages to executors and back.

use std::sync::Arc;

use ballista_core::serde::BallistaPhysicalExtensionCodec;
use datafusion_common::{DataFusionError, Result};
use datafusion_execution::TaskContext;
use datafusion_execution::object_store::ObjectStoreUrl;
use datafusion_physical_plan::ExecutionPlan;
use datafusion_proto::physical_plan::{PhysicalExtensionCodec, PhysicalProtoConverterExtension};
use object_store::path::Path;
use prost::{Message, Oneof};

use super::parts::{Carried, Parts, PartsExec};
use crate::nodes::{SinkExec, SinkTo};

/// What our messages begin with, and Ballista's do not.
const OURS: &[u8] = b"stratalog 1\n";

/// Ours, and otherwise Ballista's.
#[derive(Debug, Default)]
pub(crate) struct Codec {
    others: BallistaPhysicalExtensionCodec,
    carried: Arc<Carried>,
}

#[derive(Clone, PartialEq, Message)]
struct Node {
    #[prost(oneof = "Is", tags = "1, 2")]
    is: Option<Is>,
}

#[derive(Clone, PartialEq, Oneof)]
enum Is {
    #[prost(message, tag = "1")]
    Sink(Sink),
    #[prost(message, tag = "2")]
    Parts(Parts),
}

/// A sink.
#[derive(Clone, PartialEq, Message)]
struct Sink {
    #[prost(string, tag = "1")]
    url: String,
    #[prost(string, tag = "2")]
    prefix: String,
    #[prost(uint64, repeated, tag = "3")]
    key: Vec<u64>,
    #[prost(uint64, tag = "4")]
    parts: u64,
}

impl PhysicalExtensionCodec for Codec {
    fn try_encode(
        &self,
        node: Arc<dyn ExecutionPlan>,
        buf: &mut Vec<u8>,
        proto_converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<()> {
        let is = match (node.downcast_ref::<SinkExec>(), node.downcast_ref::<PartsExec>()) {
            (Some(sink), _) => Is::Sink(Sink::of(sink.to())),
            (_, Some(parts)) => Is::Parts(parts.parts().clone()),
            (None, None) => return self.others.try_encode(node, buf, proto_converter),
        };
        buf.extend_from_slice(OURS);
        Node { is: Some(is) }.encode(buf).map_err(|error| DataFusionError::External(Box::new(error)))
    }

    fn try_decode(
        &self,
        buf: &[u8],
        inputs: &[Arc<dyn ExecutionPlan>],
        ctx: &TaskContext,
        proto_converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let Some(message) = buf.strip_prefix(OURS) else {
            return self.others.try_decode(buf, inputs, ctx, proto_converter);
        };
        let wrong = || DataFusionError::Execution("a message of another version".to_owned());
        let node = Node::decode(message).map_err(|_| wrong())?;
        let [input] = inputs else { return Err(wrong()) };
        let input = Arc::clone(input);
        Ok(match node.is.ok_or_else(wrong)? {
            Is::Sink(sink) => Arc::new(SinkExec::elsewhere(input, sink.to()?)),
            Is::Parts(parts) => Arc::new(PartsExec::try_new(input, parts, Arc::clone(&self.carried))?),
        })
    }
}

impl Sink {
    fn of(SinkTo { url, prefix, key, parts }: &SinkTo) -> Sink {
        Sink {
            url: url.as_str().to_owned(),
            prefix: prefix.to_string(),
            key: key.iter().map(|column| *column as u64).collect(),
            parts: *parts as u64,
        }
    }

    fn to(self) -> Result<SinkTo> {
        Ok(SinkTo {
            url: ObjectStoreUrl::parse(self.url)?,
            prefix: Path::from(self.prefix),
            key: self.key.into_iter().map(|column| column as usize).collect(),
            parts: self.parts as usize,
        })
    }
}
