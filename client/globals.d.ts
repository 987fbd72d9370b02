// The generated code uses this type of the DOM, which Node's types declare under another name.
type BodyInit = NonNullable<RequestInit['body']>
