(rule head: (heads (atom relation: (relation) @name))) @definition.function
(declaration relation: (relation) @name) @definition.type
(type_declaration name: (type_name) @name) @definition.type
(body (conjunction (atom relation: (relation) @name) @reference.call))
(goal relation: (relation) @name) @reference.call
