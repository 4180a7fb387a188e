/** Texts that users read, and comments, are plain English, in lines that fit, with links that lead somewhere. */
import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, it, test } from 'vitest'
import {
  anchorsOf,
  linksOf,
  longLines,
  type Sentence,
  sentencesOfApi,
  sentencesOfComments,
  sentencesOfPage,
  wordsOf,
} from '../support/prose.ts'

/** The texts under these rules. A line here adds a page (.md) or an OpenAPI document (.json). */
const HELD = ['*.md', 'docs/*.md', 'docs/guides/*.md', 'docs/design/*.md', 'third-party/*.md', 'openapi/openapi.json']
/** Folders whose comments are under the same rules, except for the length of lines. */
const HELD_CODE = ['src', 'bin', 'packaging', 'migrations', 'test', 'bench', 'tools', '.githooks']

const MOST_WORDS = 35
const MOST_CHARACTERS = 100

/** Forms that native writers do not use, each with the common one and a sentence that it refuses. */
const FORMS: { form: RegExp; better: string; refused: string; fine?: string }[] = [
  { form: /\bby (?:itself|themselves)\b/i, better: 'automatically, on its own', refused: 'Sites start by themselves.' },
  { form: /\banew\b/i, better: 'again', refused: 'The cache is filled anew.' },
  { form: /\bany ?more\b/i, better: 'no longer', refused: 'Nobody reads it any more.' },
  { form: /\bin force\b/i, better: 'active, current', refused: 'It prints the settings in force.' },
  { form: /\bwho(?:so)?ever\b/i, better: 'anyone who', refused: 'Whoever signs in sees it.' },
  {
    form: /(?:^|[.:;] )Who\b(?![^.]*\?)|\b(?:for|to|of|by) who\b/,
    better: 'users who, anyone who',
    refused: 'Who sends more gets 503.',
    fine: 'Who did it?',
  },
  {
    form: /\b(?:go|goes|going|gone|went) on\b/i,
    better: 'continues, runs, next',
    refused: 'The site goes on meanwhile.',
  },
  {
    form: /\b(?:is|are|was|were) no (?!longer)\w/i,
    better: 'is not a',
    refused: 'This is no error.',
    fine: 'It is no longer there.',
  },
  { form: /\bbe had\b/i, better: 'is available', refused: 'The file could not be had.' },
  {
    form: /\b(?:put|puts|take|takes|taken|took|bring|brings|brought) (?:it |them |that )?back\b/i,
    better: 'restore, undo, recover',
    refused: 'Stead takes it back.',
  },
  {
    form: /^What (?!to\b|(?:is|are|do|does)\b[^?]*\?)[^?]{8,}\b(?:is|are|was|were|has|have|stays?|goes|gets?|comes?|does|lies)\b[^?]*$/,
    better: 'a subject that names the thing',
    refused: 'What was overwritten is kept.',
    fine: 'What the rows mean',
  },
  { form: /\b(?:he|him|his|himself)\b/i, better: 'they, them', refused: 'The owner gets his mail.' },
  { form: /\b(?:some|every)body\b/i, better: 'someone, everyone', refused: 'Somebody else has it.' },
  {
    form: /\b(?:is|are|was|were|be) (?:asked|looked|told|said|waited|cared|dealt)\b/i,
    better: 'the actor as the subject',
    refused: 'The name server is asked first.',
  },
  { form: /\b(?:has|have|had) to be\b/i, better: 'must', refused: 'The zone has to be served here.' },
  { form: /\b(?:is|are|was|were|been) made\b/i, better: 'created', refused: 'The site is made at once.' },
  { form: /\b(?:lie|lies|lay) (?:in|at|on|there|here|beside)\b/i, better: 'is in', refused: 'It lies in the folder.' },
  { form: /\ball the same\b/i, better: 'still, anyway', refused: 'Stead starts all the same.' },
  { form: /\b(?:but for|but that|but where)\b/i, better: 'except', refused: 'All paths, but for two.' },
  {
    form: /\bsome (?:two|three|five|ten|hundred|\d)/i,
    better: 'about',
    refused: 'It takes some ten seconds.',
    fine: 'Some pages take long.',
  },
  { form: /\bfor ever\b/i, better: 'forever', refused: 'It stays for ever.' },
  { form: /\ban own\b/i, better: 'its own', refused: 'Each has an own folder.' },
  { form: /\b(?:under way|underway)\b/i, better: 'in flight, running', refused: 'Requests under way are answered.' },
  { form: /\b(?:give|gives|giving) way\b/i, better: 'yields', refused: 'Backups give way to visitors.' },
  { form: /\breckoned\b/i, better: 'estimated, calculated', refused: 'It is reckoned at 2 GB.' },
  { form: /\bset aside\b/i, better: 'quarantined', refused: 'The folder was set aside.' },
  { form: /\bhomes?\b(?! ?page)/i, better: 'site directory', refused: 'Each site has a home.', fine: 'The home page' },
  { form: /\bfigures\b/i, better: 'metrics, counts, numbers', refused: 'The figures are old.' },
  { form: /\bkey of the backups\b/i, better: 'backup key', refused: 'Print the key of the backups.' },
]

/** Sentences that break a rule for a reason. */
const EXCEPTIONS: { page: string; begins: string; because: string }[] = [
  { page: 'docs/benchmarks.md', begins: 'home ', because: 'A stored step has this name.' },
  {
    page: 'docs/benchmarks.md',
    begins: 'visits ',
    because: 'Each is a cell of measurements, as the benchmark prints it.',
  },
  { page: 'docs/settings.md', begins: 'Whether Stead issues its own', because: 'It names the domain home.arpa.' },
]

const pages = HELD.flatMap((glob) => globSync(glob))
const read = (page: string): string => readFileSync(page, 'utf8')
const sentencesOf = (page: string): Sentence[] => {
  if (page.endsWith('.json')) return sentencesOfApi(read(page))
  if (page.endsWith('.md')) return sentencesOfPage(read(page))
  return sentencesOfComments(read(page), { hash: /\.(?:php|sh)$/.test(page) })
}
const isExcepted = (page: string, text: string): boolean =>
  EXCEPTIONS.some((each) => each.page === page && text.startsWith(each.begins))
/** Returns the sentences that a rule refuses on a page, without the exceptions. */
const refused = (page: string, refuse: (text: string) => string | undefined): string[] =>
  sentencesOf(page).flatMap(({ text, line }) => {
    const why = isExcepted(page, text) ? undefined : refuse(text)
    return why ? [`${page}:${line}: ${why}: ${text}`] : []
  })
const formOf = (text: string) => FORMS.find(({ form }) => form.test(text))
const better = (text: string): string | undefined => {
  const found = formOf(text)
  return found && `${found.form.exec(text)?.[0].trim()} → ${found.better}`
}
const tooLong = (text: string): string | undefined =>
  wordsOf(text) > MOST_WORDS ? `${wordsOf(text)} words` : undefined

describe('the rules', () => {
  test.each(FORMS)('$form', ({ form, refused: wrong, fine }) => {
    expect(wrong).toMatch(form)
    if (fine) expect(fine).not.toMatch(form)
  })

  it('split a page into sentences', () => {
    const page =
      '# A title here\n\nOne `a b` two. Three\nfour (v1.2) five.\n\n- An item\n  goes.\n\n| a cell | b c d |\n'
    expect(sentencesOfPage(`${page}\n\`\`\`sh\nno prose here\n\`\`\`\n`)).toEqual([
      { text: 'A title here', line: 1 },
      { text: 'One `code` two.', line: 3 },
      { text: 'Three four (v1.2) five.', line: 3 },
      { text: 'An item goes.', line: 6 },
      { text: 'a cell', line: 9 },
      { text: 'b c d', line: 9 },
    ])
    expect(sentencesOfApi('{"paths":{"/a":{"summary":"Lists all sites"}}}')).toEqual([
      { text: 'Lists all sites', line: 1 },
    ])
  })

  it('count the characters of a line, if it can be broken', () => {
    const word = 'a'.repeat(120)
    const page = `one ${word}\n${word}\n- ${word}\n| a ${word} |\n[two words](${word})\n    code ${word}\n`
    expect(longLines(page, 100)).toEqual([{ line: 1, length: 124 }])
  })

  it('find links and headings', () => {
    const page =
      '# One `b`: two\n\n[here](#one-b-two) [there](a.md#c)\n[away](https://a.example) `[no](link.md)`\n\n## One b two\n'
    expect(linksOf(page)).toEqual([
      { target: '#one-b-two', line: 3 },
      { target: 'a.md#c', line: 3 },
    ])
    expect([...anchorsOf(page)]).toEqual(['one-b-two', 'one-b-two-1'])
  })

  it('find the sentences of comments, each tag and each term of a list alone', () => {
    const code = [
      "const url = 'https://a.example // not this'",
      '/**',
      ' * Returns `a`. It may',
      ' * be null.',
      ' * lease   a right to it',
      ' * @param first in ms',
      ' */',
      'export const a = 1 // the first one',
      '// biome-ignore lint/x: for tools only',
      '{/* in JSX */}',
      '// One line',
      '// of two.',
      '# A hash',
    ].join('\n')
    const texts = (hash: boolean) => sentencesOfComments(code, { hash }).map(({ text, line }) => `${line} ${text}`)
    const common = [
      '3 Returns `code`.',
      '3 It may be null.',
      '3 a right to it',
      '6 in ms',
      '8 the first one',
      '10 in JSX',
    ]
    expect(texts(false)).toEqual([...common, '11 One line of two.'])
    expect(texts(true)).toEqual([...common, '11 One line of two.', '11 A hash'])
  })

  it('apply to every listed exception', () => {
    const unused = EXCEPTIONS.filter(
      ({ page, begins }) =>
        !sentencesOf(page).some(
          ({ text }) => text.startsWith(begins) && (formOf(text) !== undefined || wordsOf(text) > MOST_WORDS),
        ),
    )
    expect(unused).toEqual([])
  })
})

describe.each(pages)('%s', (page) => {
  it('uses the forms of plain English', () => {
    expect(refused(page, better)).toEqual([])
  })

  it(`has sentences of at most ${MOST_WORDS} words`, () => {
    expect(refused(page, tooLong)).toEqual([])
  })

  it.skipIf(page.endsWith('.json'))(`has lines of at most ${MOST_CHARACTERS} characters`, () => {
    expect(longLines(read(page), MOST_CHARACTERS)).toEqual([])
  })
})

describe.each(HELD_CODE)('comments in %s', (folder) => {
  const files = globSync(`${folder}/**/*.{ts,tsx,js,mjs,php,sh,css}`, {
    exclude: ['**/node_modules/**', 'src/panel/dist/**', 'src/sdk/*.generated.ts'],
  })

  it('use the forms of plain English', () => {
    expect(files.length).toBeGreaterThan(0)
    expect(files.flatMap((file) => refused(file, better))).toEqual([])
  })

  it(`have sentences of at most ${MOST_WORDS} words`, () => {
    expect(files.flatMap((file) => refused(file, tooLong))).toEqual([])
  })
})

describe('links', () => {
  const linking = globSync(['*.md', 'docs/**/*.md', 'third-party/*.md'])
  const isThere = (page: string, target: string): boolean => {
    const [path = '', anchor] = target.split('#')
    const file = path ? normalize(join(dirname(page), path)) : page
    if (!existsSync(file)) return false
    return !anchor || (statSync(file).isFile() && anchorsOf(read(file)).has(anchor))
  }

  test.each(linking)('of %s lead to a file and a heading', (page) => {
    const dead = linksOf(read(page)).filter(({ target }) => !isThere(page, target))
    expect(dead).toEqual([])
  })

  it('of the index lead to every page', () => {
    const linked = linksOf(read('docs/README.md')).map(({ target }) => normalize(join('docs', target)))
    const known = globSync(['docs/*.md', 'docs/guides/*.md']).filter((page) => !page.endsWith('README.md'))
    expect(known.filter((page) => !linked.includes(page))).toEqual([])
  })
})
