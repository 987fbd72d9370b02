// A DOM type in the generated code, which Node's types do not declare under this name.
type BodyInit = NonNullable<RequestInit['body']>
