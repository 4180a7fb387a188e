import { parseAst } from 'vitest/node'

/** A change of a source that a test should notice. */
export interface Mutant {
  readonly file: string
  /** From 1. */
  readonly line: number
  /** Such as `removed: throw new Problem(…)`. */
  readonly what: string
  readonly place: Place
  /** The replacement, or `undefined` to remove a statement. */
  readonly by: string | undefined
  /**
   * Whether it is in a statement that is built once and cached (`precompiled`). A process that has built it never
   * reaches the change.
   */
  readonly isBuiltOnce: boolean
}

interface Place {
  readonly start: number
  readonly end: number
}

interface Node extends Place {
  readonly type: string
  readonly operator?: string
  readonly [key: string]: unknown
}

/** Replacements of operators. */
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

/** Returns all mutants of a TypeScript source, in order of place. */
export function mutantsOf(file: string, source: string): Mutant[] {
  const mutants: Omit<Mutant, 'file' | 'line'>[] = []
  visit(parsed(source), [], (node, parents) => {
    const isBuiltOnce = parents.some(isPrecompiled)
    mutants.push(...changesOf(node, parents, source).map((change) => ({ ...change, isBuiltOnce })))
  })
  return mutants
    .map((mutant) => ({ file, line: source.slice(0, mutant.place.start).split('\n').length, ...mutant }))
    .sort((left, right) => left.place.start - right.place.start || right.place.end - left.place.end)
}

/**
 * Returns the source with all these changes, each active where `globalThis.__mutant(id)` is true. It is loaded once for
 * all of them.
 * @param mutants of this source, by ID
 */
export function withSwitches(source: string, mutants: ReadonlyMap<number, Mutant>): string {
  const switches = [...mutants].map(([id, { place, by }]): Switch => ({ ...place, id, by }))
  const blocks: Switch[] = []
  // A line that began with a word and now begins with a bracket would continue the previous line.
  visit(parsed(source), [], (node) => {
    if (
      node.type === 'ExpressionStatement' &&
      switches.some(({ start, by }) => by !== undefined && start === node.start)
    )
      blocks.push({ start: node.start, end: node.end, id: undefined, by: undefined })
  })
  const inOrder = [...blocks, ...switches].sort((left, right) => left.start - right.start || right.end - left.end)
  const text = switched(source, { start: 0, end: source.length }, inOrder)
  parsed(text)
  return text
}

interface Switch extends Place {
  /** `undefined`: a block around a statement, without a change. */
  readonly id: number | undefined
  readonly by: string | undefined
}

/** @param switches inside the place, outer ones first */
function switched(source: string, { start, end }: Place, switches: readonly Switch[]): string {
  const first = switches[0]
  if (!first) return source.slice(start, end)
  const [inside, behind] = [
    switches.slice(1).filter((each) => each.start < first.end),
    switches.filter((each) => each.start >= first.end),
  ]
  const inner = switched(source, first, inside)
  return source.slice(start, first.start) + chosen(first, inner) + switched(source, { start: first.end, end }, behind)
}

function chosen({ id, by }: Switch, inner: string): string {
  if (id === undefined) return `{ ${inner} }`
  return by === undefined
    ? `{ if (!globalThis.__mutant?.(${id})) { ${inner} } }`
    : `(globalThis.__mutant?.(${id}) ? (${by}\n) : (${inner}))`
}

type Change = Omit<Mutant, 'file' | 'line' | 'isBuiltOnce'>

const isPrecompiled = ({ type, callee }: Node): boolean =>
  type === 'CallExpression' && /^precompiled/.test((callee as { name?: string }).name ?? '')

function changesOf(node: Node, parents: readonly Node[], source: string): Change[] {
  const textOf = ({ start, end }: Place) => source.slice(start, end)
  const part = (key: string) => node[key] as Node | null
  const removed = (): Change => ({ what: described(textOf(node), ''), place: node, by: undefined })
  switch (node.type) {
    case 'ThrowStatement':
      return [removed()]
    case 'ExpressionStatement':
      return isCall(part('expression')) ? [removed()] : []
    case 'IfStatement':
    case 'ConditionalExpression': {
      const test = part('test') as Node
      const by = `!(${textOf(test)})`
      return [{ what: described(textOf(test), by), place: test, by }]
    }
    case 'ArrayExpression':
      return (node.elements as unknown[]).length > 0
        ? [{ what: described(textOf(node), '[]'), place: node, by: '[]' }]
        : []
    case 'CallExpression':
      return withoutFilter(node, parents, source)
    case 'LogicalExpression':
    case 'BinaryExpression':
      return otherOperator(node, textOf)
    default:
      return []
  }
}

function otherOperator(node: Node, textOf: (place: Place) => string): Change[] {
  const by = operators[node.operator as string]
  const [left, right] = [node.left as Node, node.right as Node]
  // `+` also joins texts.
  if (!by || (node.operator === '+' && [left, right].some(({ type }) => /Template|Literal/.test(type)))) return []
  const what = described(`${node.operator}`, by)
  return [{ what, place: node, by: `(${textOf(left)}) ${by} (${textOf(right)})` }]
}

/** `list.filter(…)` and `query.where(…)` let everything through. */
function withoutFilter(node: Node, parents: readonly Node[], source: string): Change[] {
  const callee = node.callee as Node
  const name = callee.type === 'MemberExpression' ? (callee.property as { name?: string }).name : undefined
  if (name !== 'filter' && name !== 'where') return []
  const property = callee.property as Node
  const place = chainOf(node, parents)
  const [joint = ''] = /\s*\??\.\s*$/.exec(source.slice(place.start, property.start)) ?? []
  const unfiltered = source.slice(place.start, property.start - joint.length)
  const rest = source.slice(node.end, place.end).replace(/^[\s!]+/, '')
  const isOptional = joint.includes('?') && rest !== '' && !rest.startsWith('?')
  const what = described(`.${source.slice(property.start, node.end)}`, '')
  return [{ what, place, by: `${unfiltered}${isOptional ? (rest.startsWith('.') ? '?' : '?.') : ''}${rest}` }]
}

/** `a?.b.filter(…).map(…)` ends at `a` as one chain, so no part of it can get brackets. */
function chainOf(node: Node, parents: readonly Node[]): Node {
  let inner = node
  for (const parent of [...parents].reverse()) {
    if (parent.type === 'ChainExpression') return parent
    if (parent.object !== inner && parent.callee !== inner && parent.type !== 'TSNonNullExpression') break
    inner = parent
  }
  return node
}

const isCall = (node: Node | null): boolean =>
  node?.type === 'CallExpression' || (node?.type === 'AwaitExpression' && isCall(node.argument as Node))

function described(before: string, after: string): string {
  const [from, to] = [before, after].map((text) => text.replace(/\s+/g, ' ').trim().slice(0, 90))
  return to === '' ? `removed: ${from}` : `${from} → ${to}`
}

const parsed = (source: string) => parseAst(source, { lang: 'ts' }) as unknown as Node

function visit(node: Node, parents: readonly Node[], look: (node: Node, parents: readonly Node[]) => void): void {
  // Nothing reads an example of the document.
  if (node.type === 'Property' && (node.key as { name?: string }).name === 'examples') return
  look(node, parents)
  for (const value of Object.values(node))
    for (const each of [value].flat())
      if (isNode(each) && !/^TS(?!As|Satisfies|NonNull)/.test(each.type)) visit(each, [...parents, node], look)
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as Node).type === 'string'
