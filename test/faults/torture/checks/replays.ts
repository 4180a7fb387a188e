import type { Check } from './check.ts'

/** The same key gets the same response, and gets one in the end, however often the first tries were cut off. */
export const replays: Check = {
  name: 'keys',
  async run({ ledger }) {
    const unanswered = ledger.writes.filter(({ key, outcome }) => key && outcome === 'unknown')
    return [
      ...ledger.wrongReplays.map((words) => `another answer: ${words}`),
      ...unanswered.map(
        ({ method, path, status, attempts }) => `no answer in ${attempts} tries: ${method} ${path}: ${status}`,
      ),
    ]
  },
}
