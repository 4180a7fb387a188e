/** The part of JSON Schema from which examples are built. */
export interface ExampleSchema {
  readonly $ref?: string
  readonly anyOf?: readonly ExampleSchema[]
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly examples?: readonly unknown[]
  readonly properties?: Readonly<Record<string, ExampleSchema>>
  readonly required?: readonly string[]
  readonly items?: ExampleSchema
  readonly minimum?: number
}

/** Schemas by their names in `#/components/schemas/`. */
export type Schemas = Readonly<Record<string, ExampleSchema>>

/**
 * Returns a value that the schema allows, built from the examples of its fields. A body to send contains only the
 * optional fields that have their own example, so that it can be sent as it is.
 */
export function exampleOf(schema: ExampleSchema, schemas: Schemas, use: 'sent' | 'answered'): unknown {
  if (schema.$ref) return exampleOf(referred(schema.$ref, schemas), schemas, use)
  if (schema.examples) return schema.examples[0]
  if (schema.anyOf) return exampleOf(schema.anyOf[0] as ExampleSchema, schemas, use)
  if (schema.enum) return schema.enum[0]
  const { properties = {}, required = [] } = schema
  switch ([schema.type].flat()[0]) {
    case 'object': {
      const shown = Object.entries(properties).filter(
        ([name, property]) => use === 'answered' || required.includes(name) || property.examples,
      )
      return Object.fromEntries(shown.map(([name, property]) => [name, exampleOf(property, schemas, use)]))
    }
    case 'array':
      return [exampleOf(schema.items ?? {}, schemas, use)]
    case 'integer':
    case 'number':
      return Math.max(1, schema.minimum ?? 1)
    case 'boolean':
      return false
    case 'string':
      return ''
    default:
      return null
  }
}

const referred = (ref: string, schemas: Schemas): ExampleSchema => schemas[ref.split('/').at(-1) as string] ?? {}
