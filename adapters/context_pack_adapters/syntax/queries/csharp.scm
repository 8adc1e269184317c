; Definitions
(class_declaration name: (identifier) @name body: (_)? @body) @class
(record_declaration name: (identifier) @name body: (_)? @body) @class
(struct_declaration name: (identifier) @name body: (_)? @body) @struct
(interface_declaration name: (identifier) @name body: (_)? @body) @interface
(enum_declaration name: (identifier) @name body: (_)? @body) @enum
(delegate_declaration name: (identifier) @name) @type
(method_declaration name: (identifier) @name body: (_)? @body) @method
(constructor_declaration name: (identifier) @name body: (_)? @body) @method
(destructor_declaration name: (identifier) @name body: (_)? @body) @method
(operator_declaration operator: _ @name body: (_)? @body) @method
(conversion_operator_declaration "operator" @name body: (_)? @body) @method
(property_declaration name: (identifier) @name accessors: (accessor_list (accessor_declaration body: (_))) @body) @method
(property_declaration name: (identifier) @name value: (arrow_expression_clause) @body) @method
(indexer_declaration "this" @name accessors: (_) @body) @method
(indexer_declaration "this" @name value: (_) @body) @method
(local_function_statement name: (identifier) @name body: (_)? @body) @function
(field_declaration (modifier) @_modifier
  (variable_declaration (variable_declarator name: (identifier) @name . (_) @body)) (#any-of? @_modifier "const" "static")) @constant

; Imports: a static one or one by another name is a "type"
(using_directive "static" [(identifier) (qualified_name) (alias_qualified_name) (generic_name)] @specifier
  (#set! how "type")) @import
(using_directive name: (_) @imported . [(identifier) (qualified_name) (alias_qualified_name) (generic_name)] @specifier
  (#set! how "type")) @import
(using_directive !name [(identifier) (qualified_name) (alias_qualified_name)] @specifier) @import
(namespace_declaration name: (_) @package)
(file_scoped_namespace_declaration name: (_) @package)
(ERROR "namespace" . [(identifier) (qualified_name)] @package) ; around conditions that cross its statements

; What stands above or beside code
(attribute_list) @attribute
(comment) @comment
[(string_literal) (verbatim_string_literal) (raw_string_literal) (interpolated_string_expression) (character_literal)] @string
