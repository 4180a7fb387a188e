/** All texts of the control panel are in `src/panel/texts/`, so that they have one voice and can be translated. */
import { globSync, readFileSync } from 'node:fs'
import { parseSync, Visitor } from 'vite'
import { describe, expect, it } from 'vitest'

interface Literal {
  readonly start: number
  readonly end: number
}

const hasLetters = (text: string): boolean => /\p{L}/u.test(text)
/** Matches a sentence, or a word that begins one. Identifiers and compared values look different. */
const isSpoken = (text: string): boolean =>
  /^\s*\p{Lu}\p{Ll}+(?!\p{L})/u.test(text) || /\p{L}[.,:]?\s+\p{L}/u.test(text)

/** Finds texts in the code of a page: between tags, as a branch of JSX, or as a string anywhere except in a class. */
function wordsIn(file: string, source: string): string[] {
  const words: string[] = []
  const say = ({ start, end }: Literal) => words.push(source.slice(start, end).trim())
  const apart: Literal[] = []
  const isApart = ({ start, end }: Literal) => apart.some((each) => each.start <= start && end <= each.end)
  const branches = (node: { type: string }): void => {
    if (node.type === 'ConditionalExpression') {
      const { consequent, alternate } = node as never as Record<'consequent' | 'alternate', { type: string }>
      branches(consequent)
      branches(alternate)
    } else if (node.type === 'LogicalExpression') branches((node as never as { right: { type: string } }).right)
    else if (node.type === 'Literal' && hasLetters(String((node as never as { value: unknown }).value)))
      say(node as never as Literal)
  }
  new Visitor({
    JSXAttribute(node) {
      if (['class', 'columns', 'href', 'rel', 'of', 'do'].includes(String(node.name.name))) apart.push(node)
    },
    // The name of a type.
    TSLiteralType(node) {
      apart.push(node)
    },
    CallExpression({ callee, arguments: given }) {
      const name = callee.type === 'MemberExpression' && 'name' in callee.property ? String(callee.property.name) : ''
      const called = callee.type === 'Identifier' ? callee.name : name
      if (called.startsWith('querySelector') || called === 'useRefused') apart.push(...given)
    },
    JSXText(node) {
      if (hasLetters(node.value)) say(node)
    },
    JSXElement({ children }) {
      for (const child of children) if (child.type === 'JSXExpressionContainer') branches(child.expression)
    },
    Literal(node) {
      if (typeof node.value === 'string' && isSpoken(node.value) && !isApart(node)) say(node)
    },
    TemplateLiteral(node) {
      if (node.quasis.some(({ value }) => isSpoken(value.raw)) && !isApart(node)) say(node)
    },
  }).visit(parseSync(file, source).program)
  return [...new Set(words)]
}

/** Not for people: names of browser objects, and values that an answer's message is compared with. */
const ofPrograms = new Set([
  "'extra num'",
  "'Tab'",
  "'Success'",
  "'Fatal error'",
  "'Database error'",
  "'Warning'",
  "'num extra'",
  "'Refusal'",
  "'Escape'",
  "'Enter'",
  "'ArrowDown'",
  "'ArrowUp'",
])

describe('texts of the control panel', () => {
  const files = globSync('src/panel/**/*.{ts,tsx}', {
    exclude: [
      ...['src/panel/texts/**', 'src/panel/dist/**', 'src/panel/vite.config.ts', 'src/panel/**/*.test.ts'],
      // Only for maintainers.
      'src/panel/components/**',
    ],
  })

  it.each(files)('%s has no texts of its own', (file) => {
    expect(wordsIn(file, readFileSync(file, 'utf8')).filter((word) => !ofPrograms.has(word))).toEqual([])
  })

  it.each([
    ['<p>Sites</p>', ['Sites']],
    ['<p>{isOn ? "on" : off}</p>', ['"on"']],
    ['<p>{isOn && "on"}</p>', ['"on"']],
    ['<List head={["Name"]} empty="None." />', ['"Name"', '"None."']],
    ['told(`Made it`)', ['`Made it`']],
    ['<p class={`state is`}>{texts.made} ×</p>', []],
    ["type Site = components['schemas']['SiteDetail']", []],
    ['kind === "fs" ? "row" : "disabled"', []],
  ])('%s', (source, words) => {
    expect(wordsIn('page.tsx', source)).toEqual(words)
  })
})
