/** Access control: mod_authz_core and mod_access_compat, as Apache 2.4 merges and evaluates them. */
import { addressOf, envOf, type Level, type Trial } from './asked.ts'
import {
  type Compat,
  type From,
  holdsFor,
  type LimitedRequirement,
  type Methods,
  newSection,
  type Requirement,
  type Section,
} from './rules.ts'

/**
 * Returns the sections that apply to a file: first those of folders, the innermost last, then those for files of its
 * name.
 */
export function sectionsFor(
  levels: readonly Level[],
  name: string | undefined,
  { work }: Pick<Trial, 'work'>,
): Section[] {
  const sections = levels.map(({ rules }) => rules.folder)
  if (name === undefined) return sections
  for (const { rules } of levels)
    for (const { name: of, section } of rules.files)
      if (of.kind === 'name' ? of.text === name : of.pattern.test(name, work)) sections.push(section)
  return sections
}

/** Returns the value of the last section that defines one. */
export function lastOf<Value>(
  sections: readonly Section[],
  read: (section: Section) => Value | undefined,
): Value | undefined {
  for (let i = sections.length - 1; i >= 0; i--) {
    const value = read(sections[i] as Section)
    if (value !== undefined) return value
  }
  return undefined
}

/** `password`: a visitor who proves to be one of the users may get access. */
export type FolderAccess = 'granted' | 'denied' | 'password'

/** Returns whether the visitor gets access, as far as the visitor is known. */
export function accessOf(sections: readonly Section[], trial: Trial): FolderAccess {
  if (sections.some(({ isClosed }) => isClosed)) return 'denied'
  for (const section of sections) if (section.isDoubtful && !isOpen(section)) return 'denied'
  const { method } = trial.asked
  const require = lastOf(sections, (section) => section.require)
  const compat = lastOf(sections, (section) => section.compat)
  const byPlace = compat && usesCompat(compat, method) ? isLetIn(compat, trial) : undefined
  const byRequire = require?.some(({ methods }) => holdsFor(methods, method)) ? some(require, trial) : undefined
  const isAny =
    lastOf(sections, (section) => section.satisfy.findLast(({ methods }) => holdsFor(methods, method)))?.value === 'any'
  const required: FolderAccess =
    byRequire === undefined || byRequire === 'granted' ? 'granted' : byRequire === 'noUser' ? 'password' : 'denied'
  if (isAny) {
    if (byPlace === true || (byPlace === undefined && byRequire === undefined)) return 'granted'
    return byRequire === undefined ? 'denied' : required
  }
  return byPlace === false ? 'denied' : required
}

/** Returns whether this section alone gives access to an anonymous visitor. */
function isOpen(section: Section): boolean {
  const alone = { ...newSection(), require: section.require, compat: section.compat, satisfy: section.satisfy }
  const asked = { method: 'GET', target: '/', headers: {}, address: '', https: false, host: '' }
  const depends = { headers: new Set<string>(), isPrivate: false }
  const nobody: Trial = {
    asked,
    levels: [],
    work: { left: 0 },
    depends,
    path: '/',
    query: '',
    env: new Map(),
    user: undefined,
  }
  return accessOf([alone], nobody) === 'granted'
}

const usesCompat = ({ order, allow, deny }: Compat, method: string): boolean =>
  [...order, ...allow, ...deny].some(({ methods }) => holdsFor(methods, method))

function isLetIn({ order, allow, deny }: Compat, trial: Trial): boolean {
  const { method } = trial.asked
  const matches = (list: readonly From[]) =>
    list.some(({ who, methods }) => {
      if (!holdsFor(methods, method)) return false
      if (who.kind === 'all') return true
      if (who.kind === 'env') return envOf(trial).has(who.name) !== who.negated
      return who.test(addressOf(trial))
    })
  const value = order.findLast((one) => holdsFor(one.methods, method))?.value ?? 'deny,allow'
  if (value === 'allow,deny') return matches(allow) && !matches(deny)
  if (value === 'deny,allow') return !matches(deny) || matches(allow)
  return matches(allow) && !matches(deny)
}

type Verdict = 'granted' | 'denied' | 'neutral' | 'noUser'

const holds = (methods: Methods | undefined, { asked }: Trial): boolean => holdsFor(methods, asked.method)

function verdictOf({ requirement, negated, methods }: LimitedRequirement, trial: Trial): Verdict {
  if (!holds(methods, trial)) return 'neutral'
  if (requirement.kind === 'unknown') return 'denied'
  const verdict = ask(requirement, trial)
  if (!negated) return verdict
  return verdict === 'granted' ? 'denied' : 'neutral'
}

function ask(requirement: Exclude<Requirement, { kind: 'unknown' }>, trial: Trial): Verdict {
  const granted = (is: boolean): Verdict => (is ? 'granted' : 'denied')
  switch (requirement.kind) {
    case 'all':
      return granted(requirement.granted)
    case 'address':
      return granted(requirement.test(addressOf(trial)))
    case 'method':
      return granted(requirement.names.includes(trial.asked.method === 'HEAD' ? 'GET' : trial.asked.method))
    case 'env':
      return granted(requirement.names.some((name) => envOf(trial).has(name)))
    case 'validUser':
      trial.depends.isPrivate = true
      return trial.user === undefined ? 'noUser' : 'granted'
    case 'user':
      trial.depends.isPrivate = true
      return trial.user === undefined ? 'noUser' : granted(requirement.names.includes(trial.user))
    case 'every':
      return every(requirement.parts, trial)
    case 'some':
      return some(requirement.parts, trial)
    case 'none': {
      // A part that is not understood may be the one that forbids.
      if (requirement.parts.some((part) => part.requirement.kind === 'unknown')) return 'denied'
      const verdict = some(requirement.parts, trial)
      return verdict === 'granted' ? 'denied' : 'neutral'
    }
  }
}

function every(parts: readonly LimitedRequirement[], trial: Trial): Verdict {
  let all: Verdict = 'neutral'
  for (const part of parts) {
    const verdict = verdictOf(part, trial)
    if (verdict === 'denied') return 'denied'
    if (verdict === 'noUser' || (verdict !== 'neutral' && all === 'neutral')) all = verdict
  }
  return all
}

function some(parts: readonly LimitedRequirement[], trial: Trial): Verdict {
  let all: Verdict = 'neutral'
  for (const part of parts) {
    const verdict = verdictOf(part, trial)
    if (verdict === 'granted') return 'granted'
    if ((verdict === 'noUser' && all === 'denied') || all === 'neutral') all = verdict
  }
  return all
}
