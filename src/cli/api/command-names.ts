/** Groups of the API whose name belongs to another command, is not valid as a command, or is not the usual word. */
const nounOfTag: Readonly<Record<string, string>> = {
  // `stead account` and `stead dns` exist: the operator's accounts, and the name server.
  Account: 'my-account',
  DNS: 'zones',
  'Must-use-plugins': 'mu-plugins',
}

export const nounOf = (tag: string): string => nounOfTag[tag] ?? tag.toLowerCase()

/** Converts `resetSftpPassword` to `reset sftp password`. */
const wordsOf = (id: string): string[] => id.split(/(?=[A-Z])|(?<=[a-z])(?=\d)/).map((word) => word.toLowerCase())

const singular = (word: string): string => word.replace(/ies$/, 'y').replace(/s$/, '')

export interface Named {
  readonly operationId: string
  readonly tag: string
  readonly path: string
}

/**
 * Returns the verbs of operations: the verb of the id, and those of its other words that the group's name lacks. If two
 * would have the same name, the one for a site keeps that word: `collaborators list`, `collaborators list-site`.
 */
export function apiVerbs(operations: readonly Named[]): ReadonlyMap<string, string> {
  const short = operations.map((operation) => verbOf(operation, isOfSite(operation) ? ['site'] : []))
  const nameAt = (n: number) => `${nounOf((operations[n] as Named).tag)} ${short[n]}`
  const all = operations.map((_, n) => nameAt(n))
  return new Map(
    operations.map((operation, n) => {
      const isTaken = all.filter((name) => name === nameAt(n)).length > 1
      return [operation.operationId, isTaken ? verbOf(operation, []) : (short[n] as string)]
    }),
  )
}

const isOfSite = ({ tag, path }: Named): boolean => tag !== 'Sites' && /^\/v1\/sites\/\{/.test(path)

function verbOf({ operationId, tag }: Named, left: readonly string[]): string {
  const [verb = '', ...rest] = wordsOf(operationId)
  const said = new Set([...`${tag} ${nounOf(tag)}`.toLowerCase().split(/[ -]/), ...left].map(singular))
  return [verb, ...rest.filter((word) => !said.has(singular(word)))].join('-')
}
