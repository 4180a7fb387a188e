import type { HeaderEdit } from './rules.ts'

/**
 * Applies mod_headers.
 * @param raw flat pairs
 * @param env returns the variables that are set
 */
export function editHeaders(
  raw: readonly string[],
  edits: readonly HeaderEdit[],
  env: () => ReadonlyMap<string, string>,
): string[] {
  let out = [...raw]
  for (const edit of edits) {
    if (edit.env && env().has(edit.env.name) === edit.env.negated) continue
    out = edited(out, edit)
  }
  return out
}

function edited(raw: string[], { action, name, value }: HeaderEdit): string[] {
  const lower = name.toLowerCase()
  const isIt = (index: number) => (raw[index] as string).toLowerCase() === lower
  const places = raw.flatMap((_, index) => (index % 2 === 0 && isIt(index) ? [index] : []))
  const without = () => raw.filter((_, index) => !places.includes(index - (index % 2)))
  switch (action) {
    case 'set':
      return [...without(), name, value]
    case 'unset':
      return without()
    case 'add':
      return [...raw, name, value]
    case 'setifempty':
      return places.length > 0 ? raw : [...raw, name, value]
    case 'append':
    case 'merge': {
      if (places.length === 0) return [...raw, name, value]
      const joined = places.map((index) => raw[index + 1] as string).join(', ')
      if (action === 'merge' && joined.split(',').some((part) => part.trim() === value)) return raw
      return [...without(), raw[places[0] as number] as string, `${joined}, ${value}`]
    }
  }
}
