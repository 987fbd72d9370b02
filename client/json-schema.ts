/** The TypeScript type of the values that match a schema. The schema is a JSON Schema literal or a TypeBox schema. */
export type FromSchema<S> = S extends { static: infer T } ? T : FromJson<S>

type FromJson<S> = S extends { const: infer C } ? C :
  S extends { enum: ReadonlyArray<infer E> } ? E :
    S extends { anyOf: ReadonlyArray<infer E> } ? FromJson<E> :
      S extends { type: 'object', properties: infer P } ? FromProperties<P, S extends { required: ReadonlyArray<infer R> } ? R : never> :
        S extends { type: 'array', items: infer I } ? Array<FromJson<I>> :
          S extends { type: keyof Primitives } ? Primitives[S['type']] :
            S extends { type: 'object' } ? Record<string, unknown> :
              unknown

interface Primitives {
  string: string
  number: number
  integer: number
  boolean: boolean
  null: null
}

type FromProperties<P, R> =
  & { -readonly [K in keyof P as K extends R ? K : never]: FromJson<P[K]> }
  & { -readonly [K in keyof P as K extends R ? never : K]?: FromJson<P[K]> }
