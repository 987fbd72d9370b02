// A name of the DOM's that the generated code uses; Node's types have it under another.
type BodyInit = NonNullable<RequestInit['body']>
