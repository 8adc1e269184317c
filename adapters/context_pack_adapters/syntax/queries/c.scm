; C, and what C++ and Objective-C share with it.

; Functions: their names stand below what they return
(function_definition
  declarator: [
    (function_declarator declarator: [(identifier) @name (parenthesized_declarator (identifier) @name)])
    (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))
    (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name)))
    (function_declarator declarator: (parenthesized_declarator
      (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))))
    (parenthesized_declarator (identifier) @name) ; TEST(name) { … }
  ]
  body: (_) @body
  (#not-match? @name "^(TYPED_)?TEST(_[FP])?$")) @function
(declaration
  declarator: [
    (function_declarator declarator: (identifier) @name)
    (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))
    (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name)))
  ]) @function @prototype

; Types, named by themselves or by a typedef
(struct_specifier name: (type_identifier) @name body: (_) @body) @struct
(union_specifier name: (type_identifier) @name body: (_) @body) @struct
(enum_specifier name: (type_identifier) @name body: (_) @body) @enum
(type_definition type: (struct_specifier !name body: (_) @body) declarator: (type_identifier) @name) @struct
(type_definition type: (union_specifier !name body: (_) @body) declarator: (type_identifier) @name) @struct
(type_definition type: (enum_specifier !name body: (_) @body) declarator: (type_identifier) @name) @enum
(type_definition type: (_ body: (_) @body) declarator: (type_identifier) @name) @type
(type_definition
  declarator: [
    (type_identifier) @name
    (_ (type_identifier) @name)
    (_ (_ (type_identifier) @name))
    (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (type_identifier) @name)))
    (pointer_declarator declarator: (function_declarator declarator: (parenthesized_declarator (_ (type_identifier) @name))))
  ]) @type

; Macros with arguments, and variables with a value
(preproc_function_def name: (identifier) @name value: (_)? @body) @macro
(preproc_def name: (identifier) @name value: (_) @body) @constant
(translation_unit (declaration
  declarator: (init_declarator
    declarator: [
      (identifier) @name
      (pointer_declarator declarator: (identifier) @name)
      (array_declarator declarator: (identifier) @name)
      (pointer_declarator declarator: (array_declarator declarator: (identifier) @name))
    ]
    value: (_) @body)) @constant)

; Includes; those of the system keep their angle brackets
(preproc_include path: [(string_literal) (system_lib_string)] @specifier) @import
((preproc_call directive: (preproc_directive) @_word argument: (preproc_arg) @specifier) @import
  (#match? @_word "^#[ \t]*(import|include|include_next)$"))
(ERROR "#include" . [(string_literal) (system_lib_string)] @specifier) @import ; where the grammar knows none
((ERROR "#include" .) @import . [(string_literal) @specifier (concatenated_string . (string_literal) @specifier)])

; What is never compiled

; What stands above or beside code
(attribute_specifier) @attribute
(comment) @comment
[(string_literal) (char_literal)] @string
