// Says what is wrong with the subject of a commit message. Plain JavaScript: Git runs it with any Node.

const MOST_CHARACTERS = 72

/** Git writes these itself, or removes them when it squashes. */
const writtenByGit = /^(Merge|Revert|Reapply) |^(fixup|squash|amend)! /

// Verbs with which subjects begin. Other first words pass, so that "Address", "Bring" and "Speed up" are never taken for a form of a verb.
const verbs =
  'add adjust allow answer apply ask avoid block bound build bump call change check clean close collect compare copy correct count cover create ' +
  'cut declare delete deny describe disable document drop enable end enforce expand explain export extract fail fetch find fix follow forbid format ' +
  'generate get give handle harden hide hold ignore implement import improve include install introduce keep let lint list load lock log make mark ' +
  'measure merge mention migrate move name open order parse pass pin prefer prevent print protect prove publish read record reduce refactor refuse ' +
  'reject release remove rename reorder replace report require reserve restore retry return rewrite run save say send separate set show skip sort ' +
  'split start stop store strip support survive switch take tell test trim try turn update upgrade use validate wait warn write'

const irregular = {
  built: 'build',
  found: 'find',
  gave: 'give',
  held: 'hold',
  kept: 'keep',
  made: 'make',
  ran: 'run',
  rewrote: 'rewrite',
  said: 'say',
  sent: 'send',
  took: 'take',
  told: 'tell',
  wrote: 'write',
}

const imperatives = new Map([
  ...Object.entries(irregular),
  ...verbs.split(' ').flatMap((verb) => formsOf(verb).map((form) => [form, verb])),
])

/** The forms that are not imperative: "adds", "added", "adding". */
function formsOf(verb) {
  const stem = verb.replace(/e$/, '')
  const past = verb.replace(/([^aeiou])y$/, '$1i')
  const third = /([sxz]|ch|sh)$/.test(verb) ? `${verb}es` : past === verb ? `${verb}s` : `${past}es`
  // "stop" becomes "stopped", "open" becomes "opened"
  const doubled = /^[^aeiou]*[aeiou][bdglmnprt]$/.test(verb) ? [verb + verb.at(-1)] : []
  return [third, ...[stem, ...doubled].flatMap((each) => [`${each}ing`, `${each}ed`]), `${past}ed`]
}

/** The first line of a message that is not a comment. */
export const subjectOf = (message) => message.split(/\r?\n/).find((line) => line.trim() && !line.startsWith('#')) ?? ''

/** What is wrong with a subject, each with what to do. An empty list: nothing is. */
export function problemsOf(subject) {
  if (writtenByGit.test(subject)) return []
  const problems = []
  const { length } = [...subject]
  const [word] = subject.split(/[^\p{L}'’]/u, 1)
  const imperative = imperatives.get(word.toLowerCase())
  if (length > MOST_CHARACTERS)
    problems.push(`it has ${length} characters. Use at most ${MOST_CHARACTERS}, and put the reason in the body.`)
  if (/^\p{Ll}/u.test(subject)) problems.push('it begins with a lower-case letter. Begin it with a capital.')
  if (imperative)
    problems.push(`"${word}" is not imperative. Write "${imperative[0].toUpperCase()}${imperative.slice(1)}".`)
  if (/\.$/.test(subject)) problems.push('it ends with a full stop. Remove it.')
  if (/;| and also /i.test(subject)) problems.push('it names several topics. Make a commit for each of them.')
  return problems
}
