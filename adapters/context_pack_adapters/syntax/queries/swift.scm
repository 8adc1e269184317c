; Definitions
(function_declaration "func" . name: _ @name body: (_)? @body) @function
(protocol_function_declaration "func" . name: _ @name) @method
(protocol_property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @method
(init_declaration name: "init" @name body: (_)? @body) @method
(deinit_declaration "deinit" @name body: (_) @body) @method
(subscript_declaration "subscript" @name (computed_property) @body) @method
(property_declaration name: (pattern bound_identifier: (simple_identifier) @name) computed_value: (_) @body) @function
(macro_declaration "macro" . (simple_identifier) @name definition: (_)? @body) @macro
(class_declaration declaration_kind: "extension" name: (user_type) @name body: (_) @body) @scope
(class_declaration declaration_kind: "struct" name: (type_identifier) @name body: (_) @body) @struct
(class_declaration declaration_kind: "enum" name: (type_identifier) @name body: (_) @body) @enum
(class_declaration name: (type_identifier) @name body: (_) @body) @class
(protocol_declaration name: (type_identifier) @name body: (_) @body) @interface
(typealias_declaration name: (type_identifier) @name) @type
(associatedtype_declaration name: (type_identifier) @name) @type
(source_file (property_declaration
  name: (pattern bound_identifier: (simple_identifier) @name) value: (_) @body) @constant)

; Imports
(import_declaration (identifier) @specifier) @import

; What stands above or beside code
(attribute) @attribute
[(comment) (multiline_comment)] @comment
[(line_string_literal) (multi_line_string_literal) (raw_string_literal)] @string
