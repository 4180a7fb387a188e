import { parseAst } from 'vitest/node'

/** One change of a source that a test should notice. */
export interface Mutant {
  readonly file: string
  /** From 1. */
  readonly line: number
  /** Such as `removed: throw new Problem(…)`. */
  readonly what: string
  /** The whole file with the change. */
  readonly text: string
}

interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly operator?: string
  readonly [key: string]: unknown
}

interface Edit {
  readonly start: number
  readonly end: number
  readonly by: string
}

/** What takes the place of an operator. */
const operators: Readonly<Record<string, string>> = {
  '&&': '||',
  '||': '&&',
  '??': '&&',
  '===': '!==',
  '!==': '===',
  '==': '!=',
  '!=': '==',
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '+': '-',
  '-': '+',
}

/** All mutants of a TypeScript source, in order of place. */
export function mutantsOf(file: string, source: string): Mutant[] {
  const edits: Edit[] = []
  visit(parseAst(source, { lang: 'ts' }) as unknown as Node, (node) => edits.push(...editsOf(node, source)))
  return edits
    .sort((left, right) => left.start - right.start)
    .map(({ start, end, by }) => ({
      file,
      line: source.slice(0, start).split('\n').length,
      what: described(source.slice(start, end), by),
      text: source.slice(0, start) + by + source.slice(end),
    }))
}

function editsOf(node: Node, source: string): Edit[] {
  const replaced = (by: string, { start, end } = node): Edit => ({ start, end, by })
  const part = (key: string) => node[key] as Node | null
  switch (node.type) {
    case 'ThrowStatement':
      return [replaced(';')]
    case 'ExpressionStatement':
      return isCall(part('expression')) ? [replaced(';')] : []
    case 'IfStatement':
    case 'ConditionalExpression': {
      const test = part('test') as Node
      return [replaced(`!(${source.slice(test.start, test.end)})`, test)]
    }
    case 'ArrayExpression':
      return (node.elements as unknown[]).length > 0 ? [replaced('[]')] : []
    case 'CallExpression':
      return withoutFilter(node, source)
    case 'LogicalExpression':
    case 'BinaryExpression':
      return otherOperator(node, source)
    default:
      return []
  }
}

function otherOperator(node: Node, source: string): Edit[] {
  const by = operators[node.operator as string]
  const [left, right] = [node.left as Node, node.right as Node]
  // texts are joined by + as well
  if (!by || (node.operator === '+' && [left, right].some(({ type }) => /Template|Literal/.test(type)))) return []
  const between = source.slice(left.end, right.start)
  const start = left.end + between.indexOf(node.operator as string)
  return [{ start, end: start + (node.operator as string).length, by }]
}

/** `list.filter(…)` and `query.where(…)` let everything through. */
function withoutFilter(node: Node, source: string): Edit[] {
  const callee = node.callee as Node
  const name = callee.type === 'MemberExpression' ? (callee.property as { name?: string }).name : undefined
  if (name !== 'filter' && name !== 'where') return []
  const object = callee.object as Node
  return [{ start: object.end, end: node.end, by: source.slice(object.end, object.end) }]
}

const isCall = (node: Node | null): boolean =>
  node?.type === 'CallExpression' || (node?.type === 'AwaitExpression' && isCall(node.argument as Node))

function described(before: string, after: string): string {
  const [from, to] = [before, after].map((text) => text.replace(/\s+/g, ' ').trim().slice(0, 90))
  return to === '' || to === ';' ? `removed: ${from}` : `${from} → ${to}`
}

function visit(node: Node, look: (node: Node) => void): void {
  // nothing goes by an example of the document
  if (node.type === 'Property' && (node.key as { name?: string }).name === 'examples') return
  look(node)
  for (const value of Object.values(node))
    for (const each of [value].flat()) if (isNode(each) && !each.type.startsWith('TS')) visit(each, look)
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as Node).type === 'string'
