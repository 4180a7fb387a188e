/** The commands in the documentation exist. The guides' tests run some of them, and need WordPress. */
import { globSync, readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { allNames } from '../../src/cli/api/main.ts'
import { commands } from '../../src/cli/commands.ts'
import { GUIDES, otherGuides, ranGuides } from '../support/guides.ts'

const pages = globSync(['*.md', 'docs/*.md', 'docs/guides/*.md', 'docs/design/*.md'])
const names = new Set([...allNames(), ...commands.map(({ name }) => name), 'help'])
const nouns = new Set([...names].filter((name) => name.includes(' ')).map((name) => name.split(' ')[0]))

/** Returns the words of `stead` commands in blocks of a shell, and in text. */
function commandsOf(page: string): string[] {
  const text = readFileSync(page, 'utf8')
  const blocks = [...text.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block]) => block ?? '')
  const inText = [...text.matchAll(/`(stead [^`]+)`/g)].map(([, command]) => command ?? '')
  const commands = [...blocks.join('\n').matchAll(/(?:^|\$\(|\| |sudo )(stead [a-z][^\n|)]*)/gm)].map(
    ([, each]) => each ?? '',
  )
  return [...inText, ...commands]
}

/** Returns whether the words after `stead` begin with a command. A text may name a noun alone. */
function exists([noun = '', verb = '']: readonly string[]): boolean {
  if (noun === '' || names.has(`${noun} ${verb}`)) return true
  return verb === '' || !nouns.has(noun) ? names.has(noun) || nouns.has(noun) : false
}

test.each(pages)('%s names only commands that exist', (page) => {
  const wordsOf = (command: string) => {
    const words = command.split(/\s+/).slice(1)
    const end = words.findIndex((word) => !/^[a-z][a-z0-9-]*$/.test(word))
    return end === -1 ? words : words.slice(0, end)
  }
  expect(commandsOf(page).filter((command) => !exists(wordsOf(command)))).toEqual([])
})

test('tests know every guide', () => {
  const names = readdirSync(GUIDES).map((name) => name.replace(/\.md$/, ''))
  expect([...ranGuides, ...otherGuides].toSorted()).toEqual(names.toSorted())
})
