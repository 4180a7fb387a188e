import SerializerSelector, { type Serializer, type SerializerFactory } from '@fastify/fast-json-stringify-compiler'

/**
 * Compiles the serializer of an answer at its first use. Of the hundreds in the contracts, few are needed soon and most
 * never.
 */
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
