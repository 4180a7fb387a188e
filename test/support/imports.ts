import { readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

/** One `import … from` or `export … from` of a file of the repository. */
export interface Import {
  readonly from: string
  readonly to: string
  readonly isExport: boolean
  /** Names as the other file exports them. */
  readonly names: readonly string[]
}

const statement = /^(import|export)\s+(?:type\s+)?(\{[^}]*\}|[^'"`;{}]*?)\s*from\s+'(\.[^']+)'/gm

/** Returns the imports of a file, relative ones only, without those that load later (`import()`). */
export function importsOf(file: string): Import[] {
  return [...readFileSync(file, 'utf8').matchAll(statement)].map(([, word, clause = '', path = '']) => {
    const named = clause.startsWith('{')
      ? clause
          .slice(1, -1)
          .split(',')
          .map((each) => each.trim())
          .filter((each) => each !== '')
      : []
    return {
      from: file,
      to: normalize(join(dirname(file), path)),
      isExport: word === 'export',
      names: named.map((each) => each.replace(/^type\s+/, '').replace(/\s+as\s.*$/, '')),
    }
  })
}

/** Returns groups of files that import each other, directly or through others (Tarjan's algorithm), sorted. */
export function circlesOf(imports: readonly Pick<Import, 'from' | 'to'>[]): string[][] {
  const next = Map.groupBy(imports, ({ from }) => from)
  const order = new Map<string, number>()
  const open: string[] = []
  const circles: string[][] = []
  const visit = (file: string): number => {
    let low = order.size
    order.set(file, low)
    open.push(file)
    for (const { to } of next.get(file) ?? []) {
      if (!order.has(to)) low = Math.min(low, visit(to))
      else if (open.includes(to)) low = Math.min(low, order.get(to) as number)
    }
    if (low === order.get(file)) {
      const circle = open.splice(open.indexOf(file))
      if (circle.length > 1) circles.push(circle.toSorted())
    }
    return low
  }
  for (const file of next.keys()) if (!order.has(file)) visit(file)
  return circles.toSorted()
}
