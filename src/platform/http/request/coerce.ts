/** The part of JSON Schema that the contracts use. */
interface Schema {
  type?: string | string[]
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
}

const truths = new Map<unknown, boolean>([
  ['true', true],
  ['1', true],
  [1, true],
  ['false', false],
  ['0', false],
  [0, false],
])

/**
 * Corrects common deviations of real clients before the strict check. It accepts numeric strings as integers,
 * `true/false/1/0` as strings or numbers for booleans, one text for a list of roles, and null for an optional field.
 * It keeps only known fields. Other faults are left for the check to name.
 */
export function coerce(schema: Schema, value: unknown): unknown {
  if (value === null && accepts(schema, 'null')) return null
  if (accepts(schema, 'object') && schema.properties) return coerceObject(schema, value)
  if (accepts(schema, 'array')) {
    if (!Array.isArray(value) || !schema.items) return value
    return value.map((item) => coerce(schema.items as Schema, item))
  }
  if (accepts(schema, 'integer') && typeof value === 'string' && /^-?\d{1,16}$/.test(value)) return Number(value)
  if (accepts(schema, 'boolean')) return truths.get(value) ?? value
  return value
}

/** Lists for which clients may send a single text. For any other list, a single value is an error. */
const ONE_FOR_A_LIST = new Set(['roles'])

function coerceObject(schema: Schema, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const given = value as Record<string, unknown>
  const kept: Record<string, unknown> = {}
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    if (!Object.hasOwn(given, name)) continue
    const isOneOfMany = ONE_FOR_A_LIST.has(name) && typeof given[name] === 'string' && accepts(property, 'array')
    const coerced = coerce(property, isOneOfMany ? [given[name]] : given[name])
    const leftOut = coerced === null && !accepts(property, 'null') && !schema.required?.includes(name)
    if (coerced !== undefined && !leftOut) kept[name] = coerced
  }
  return kept
}

function accepts(schema: Schema, type: string): boolean {
  return Array.isArray(schema.type) ? schema.type.includes(type) : schema.type === type
}
