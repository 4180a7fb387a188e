import type { InstallationCheck } from '../../resources/installation/installation-check.ts'
import { type Area, areas } from '../../resources/installation/installation-check.ts'
import { type Check, type CheckContext, type Finding, problem, problemOf } from './check.ts'
import { checks } from './index.ts'

/** The longest time for a check, whatever it contacts. */
export const LIMIT_MS = 15_000
/** The limit for texts, which contain answers of other machines. */
const MOST_CHARACTERS = 500

/** Whether checks may contact other machines: all, none, or those of some areas. */
export type AsksOutside = boolean | readonly Area[]

/**
 * Runs all checks at the same time.
 * @returns their findings, in the order of the areas
 */
export async function runChecks(
  { asksOutside, ...context }: Omit<CheckContext, 'asksOutside'> & { readonly asksOutside: AsksOutside },
  { list = checks, limitMs = LIMIT_MS }: { readonly list?: readonly Check[]; readonly limitMs?: number } = {},
): Promise<InstallationCheck[]> {
  const asks = (area: Area) => (typeof asksOutside === 'boolean' ? asksOutside : asksOutside.includes(area))
  const found = await Promise.all(
    list.map((check) => findingsOf(check, { ...context, asksOutside: asks(check.area) }, limitMs)),
  )
  return found.flat().sort((a, b) => areas.indexOf(a.area) - areas.indexOf(b.area))
}

async function findingsOf(check: Check, context: CheckContext, limitMs: number): Promise<InstallationCheck[]> {
  const late = Promise.withResolvers<readonly Finding[]>()
  const noAnswer = problem(
    `The check of ${check.area} did not finish within ${limitMs / 1000} seconds.`,
    'Check that this server can reach the machines that the check uses.',
  )
  const timer = setTimeout(() => late.resolve([noAnswer]), limitMs)
  try {
    const found = await Promise.race([run(check, context), late.promise])
    return found.map(({ area = check.area, state, text, remedy }) => ({
      area,
      state,
      text: plain(text),
      remedy: remedy === null ? null : plain(remedy),
    }))
  } finally {
    clearTimeout(timer)
  }
}

const run = async (check: Check, context: CheckContext): Promise<readonly Finding[]> =>
  Promise.resolve()
    .then(() => check.run(context))
    .catch((error) => [problemOf(error)])

/** Returns one line that no terminal interprets as a command. */
const plain = (text: string): string =>
  text
    .replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim()
    .slice(0, MOST_CHARACTERS)
