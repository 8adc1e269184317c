; Definitions
(function_item name: (identifier) @name body: (_) @body) @function
(function_signature_item name: (identifier) @name) @function
(struct_item name: (type_identifier) @name body: (field_declaration_list)? @body) @struct
(union_item name: (type_identifier) @name body: (_) @body) @struct
(enum_item name: (type_identifier) @name body: (_) @body) @enum
(trait_item name: (type_identifier) @name body: (_) @body) @trait
(type_item name: (type_identifier) @name type: (_) @body) @type
(associated_type name: (type_identifier) @name) @type
(macro_definition name: (identifier) @name . (_)? @body) @macro
(mod_item name: (identifier) @name body: (_) @body) @module
(impl_item type: [
  (type_identifier) @name
  (generic_type type: [(type_identifier) @name (scoped_type_identifier name: (type_identifier) @name)])
  (scoped_type_identifier name: (type_identifier) @name)
  (reference_type type: (type_identifier) @name)] body: (_) @body) @scope
(source_file (const_item name: (identifier) @name value: (_)? @body) @constant)
(declaration_list (const_item name: (identifier) @name value: (_)? @body) @constant)
(source_file (static_item name: (identifier) @name value: (_)? @body) @constant)

; Imports: "mod" declares a module in a file, with the files that #[path] names; "use" and "crate" name paths
((attribute_item (attribute
    (identifier) @word (#eq? @word "path") value: (string_literal (string_content) @imported)))
  . (attribute_item)* . (mod_item name: (identifier) @specifier !body (#set! how "mod")) @import)
((attribute_item (attribute arguments: (token_tree
    (identifier) @word (#eq? @word "path") . (string_literal (string_content) @imported))))
  . (attribute_item)* . (mod_item name: (identifier) @specifier !body (#set! how "mod")) @import)
(mod_item name: (identifier) @specifier !body (#set! how "mod")) @import
(use_declaration argument: (_) @specifier (#set! how "use")) @import
(extern_crate_declaration name: (identifier) @specifier (#set! how "crate")) @import

; Macros around items, as in `cfg_if! { … }` and `cfg_unix!(…)`
(source_file [
  (macro_invocation (token_tree . ["{" "("]) @again)
  (expression_statement (macro_invocation (token_tree . "(") @again))])
(declaration_list (macro_invocation (token_tree . ["{" "("]) @again))

; What stands above or beside code
(attribute_item) @attribute
[(line_comment) (block_comment)] @comment
[(string_literal) (raw_string_literal) (char_literal)] @string
