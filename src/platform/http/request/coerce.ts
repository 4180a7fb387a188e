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
 * Forgives what real clients send before the strict check: numeric strings where integers are asked, `true/false/1/0` as
 * strings or numbers where booleans are asked, one text in place of a list of roles, null where an optional field may be
 * left out. Keeps known fields only. What it does not understand it leaves for the check to name.
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

/** Lists in place of which clients send one text. Anywhere else, one value for a list is an error. */
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
