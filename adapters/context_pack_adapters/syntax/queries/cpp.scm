; What C++ adds to c.scm.

; Tests that a macro makes: TEST(adds), TEST_F(Suite, adds)
((function_definition
  declarator: (function_declarator
    declarator: (identifier) @_test
    parameters: (parameter_list . [
      ((parameter_declaration type: (_) @name) . ")")
      ((parameter_declaration type: (_) @owner) . "," . (parameter_declaration type: (_) @name) . ")")]))
  body: (_) @body) @function
  (#match? @_test "^(TYPED_)?TEST(_[FP])?$"))

; Functions with the names that only C++ has; the innermost scope owns them
(function_definition
  declarator: [
    (function_declarator declarator: [
      (identifier) @name (field_identifier) @name (destructor_name) @name (operator_name) @name
      (template_function name: (identifier) @name)
      (qualified_identifier
        scope: [(namespace_identifier) @owner (template_type name: (type_identifier) @owner)]
        name: [(identifier) @name (destructor_name) @name (operator_name) @name (template_function name: (identifier) @name)])
      (qualified_identifier name: (qualified_identifier
        scope: [(namespace_identifier) @owner (template_type name: (type_identifier) @owner)]
        name: [(identifier) @name (destructor_name) @name (operator_name) @name (template_function name: (identifier) @name)]))
      (qualified_identifier name: (qualified_identifier name: (qualified_identifier
        scope: [(namespace_identifier) @owner (template_type name: (type_identifier) @owner)]
        name: [(identifier) @name (destructor_name) @name (operator_name) @name (template_function name: (identifier) @name)])))
    ])
    (_ (function_declarator declarator: [
      (identifier) @name (field_identifier) @name (operator_name) @name
      (qualified_identifier
        scope: [(namespace_identifier) @owner (template_type name: (type_identifier) @owner)]
        name: [(identifier) @name (operator_name) @name])
      (qualified_identifier name: (qualified_identifier
        scope: [(namespace_identifier) @owner (template_type name: (type_identifier) @owner)]
        name: [(identifier) @name (operator_name) @name]))
    ]))
    (_ (_ (function_declarator declarator: [
      (identifier) @name (field_identifier) @name (operator_name) @name
      (qualified_identifier
        scope: [(namespace_identifier) @owner (template_type name: (type_identifier) @owner)]
        name: [(identifier) @name (operator_name) @name])
    ])))
    (operator_cast "operator" @name)
    (qualified_identifier scope: (namespace_identifier) @owner name: (operator_cast "operator" @name))
    (qualified_identifier name: (qualified_identifier scope: (namespace_identifier) @owner name: (operator_cast "operator" @name)))
  ]
  [(field_initializer_list) (compound_statement) (try_statement) (default_method_clause) (delete_method_clause)] @body
  (#not-match? @name "^(TYPED_)?TEST(_[FP])?$")) @function
(declaration declarator: (init_declarator ; `auto operator<=>(A, A) = default;`
  declarator: (function_declarator declarator: [(identifier) (operator_name)] @name) value: (_) @body)) @function
(declaration declarator: [
  (function_declarator declarator: (operator_name) @name)
  (pointer_declarator declarator: (function_declarator declarator: (operator_name) @name))
  (reference_declarator (function_declarator declarator: [(identifier) (operator_name)] @name))]) @function @prototype
(field_declaration_list
  (field_declaration
    declarator: [
      (function_declarator declarator: [(field_identifier) @name (operator_name) @name])
      (_ (function_declarator declarator: [(field_identifier) @name (operator_name) @name]))
      (_ (_ (function_declarator declarator: [(field_identifier) @name (operator_name) @name])))
    ]) @method @prototype)
(declaration declarator: [(function_declarator declarator: (destructor_name) @name) (operator_cast "operator" @name)]) @method @prototype

; Types
(class_specifier name: [(type_identifier) @name (template_type name: (type_identifier) @name) (qualified_identifier name: (type_identifier) @name)] body: (_) @body) @class
(struct_specifier name: [(template_type name: (type_identifier) @name) (qualified_identifier name: (type_identifier) @name)] body: (_) @body) @struct
(alias_declaration name: (type_identifier) @name) @type
(concept_definition name: (identifier) @name) @type

; A template is part of what it makes
(template_declaration [(class_specifier) (struct_specifier) (function_definition) (declaration) (alias_declaration) (concept_definition) (template_declaration)] @part) @whole
(friend_declaration (function_definition) @part) @whole
(linkage_specification body: [(function_definition) (declaration)] @part) @whole

; Variables of a namespace
(declaration_list (declaration
  declarator: (init_declarator
    declarator: [(identifier) @name (_ (identifier) @name)]
    value: (_) @body)) @constant)

; What stands above or beside code
(attribute_declaration) @attribute
(raw_string_literal) @string
