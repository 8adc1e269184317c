; Definitions
(function_declaration name: (simple_identifier) @name body: (_)? @body) @function
(protocol_function_declaration name: (simple_identifier) @name) @method
(init_declaration name: "init" @name body: (_)? @body) @method
(class_declaration declaration_kind: "extension" name: (user_type (type_identifier) @name) body: (_) @body) @scope
(class_declaration declaration_kind: "struct" name: (type_identifier) @name body: (_) @body) @struct
(class_declaration declaration_kind: "enum" name: (type_identifier) @name body: (_) @body) @enum
(class_declaration name: (type_identifier) @name body: (_) @body) @class
(protocol_declaration name: (type_identifier) @name body: (_) @body) @interface
(typealias_declaration name: (type_identifier) @name) @type

; Imports
(import_declaration (identifier) @specifier) @import

; What stands above or beside code
(attribute) @attribute
[(comment) (multiline_comment)] @comment
[(line_string_literal) (multi_line_string_literal) (raw_string_literal)] @string
