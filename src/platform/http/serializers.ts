import SerializerSelector, { type Serializer, type SerializerFactory } from '@fastify/fast-json-stringify-compiler'

/** Compiles what writes an answer when the first is written: of the hundreds that the contracts describe few are soon needed, most never. */
export const compiledWhenUsed: SerializerFactory = (schemas, options) => {
  const compile = SerializerSelector()(schemas, options)
  return (route) => {
    let write: Serializer | undefined
    return (answer) => {
      write ??= compile(route)
      return write(answer)
    }
  }
}
