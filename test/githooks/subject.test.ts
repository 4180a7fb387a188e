import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

interface Subject {
  subjectOf(message: string): string
  problemsOf(subject: string): string[]
}
// plain JavaScript, since Git runs it with the Node of the machine
const { subjectOf, problemsOf }: Subject = await import(join(import.meta.dirname, '../../.githooks/subject.mjs'))

describe('the subject of a commit message', () => {
  test.each([
    'Reserve installation host names',
    'Address timeouts, and bring back what was lost',
    'Process queues in order',
    'Speed up the first page',
    'Let visitors pass',
    'Need one lease a repository',
    'README: say how a release is made',
    `${'a'.repeat(71)}b`.replace('a', 'A'),
    'Show 72 € signs',
    "Merge branch 'w-a'; and also more.",
    'Revert "Added a thing."',
    'fixup! Added a thing.',
  ])('passes: %s', (subject) => {
    expect(problemsOf(subject)).toEqual([])
  })

  test.each([
    ['Added hooks', 'Write "Add".'],
    ['Adds hooks', 'Write "Add".'],
    ['Adding hooks', 'Write "Add".'],
    ['Stopping the edge', 'Write "Stop".'],
    ['Fixes a race', 'Write "Fix".'],
    ['Tries again', 'Write "Try".'],
    ['Removed a table', 'Write "Remove".'],
    ['Wrote a page', 'Write "Write".'],
    ['add hooks', 'Begin it with a capital.'],
    ['Add hooks.', 'it ends with a full stop'],
    ['Add hooks; fix lint', 'a commit for each'],
    ['Add hooks and also fix lint', 'a commit for each'],
    [`Add ${'h'.repeat(69)}`, 'it has 73 characters'],
  ])('is refused: %s', (subject, problem) => {
    expect(problemsOf(subject)).toEqual([expect.stringContaining(problem)])
  })

  test('counts characters, not bytes', () => {
    expect(problemsOf(`Show ${'😀'.repeat(67)}`)).toEqual([])
  })

  test('is the first line that is not a comment', () => {
    expect(subjectOf('\n# Please enter a message\nAdd hooks\n\nBecause\n')).toBe('Add hooks')
    expect(subjectOf('# nothing\n')).toBe('')
  })
})
