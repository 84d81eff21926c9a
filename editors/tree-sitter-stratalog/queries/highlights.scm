(comment) @comment

(number) @number
(signed_number) @number
(string) @string
(timestamp) @string.special
(boolean) @boolean
(null) @constant.builtin
(parameter) @variable.parameter
(variable) @variable
(placeholder) @variable.builtin

(relation) @function
(call function: (function) @function.call)
(aggregate function: (function) @function.builtin)
(column name: (column_name) @variable.member)
(type_name) @type

(command "." @keyword)
(command name: (command_name) @keyword)
(command_word) @string.special

["type" "or" "OR" "in" "asc" "desc"] @keyword
["<-" "=" "!=" "<" "<=" ">" ">=" "+" "-" "*" "/" "%" "!"] @operator
(sign) @operator
(query "?" @operator)
["(" ")" "[" "]" "{" "}"] @punctuation.bracket
["," ":"] @punctuation.delimiter
