import { readFileSync } from 'node:fs'
import { problemsOf, subjectOf } from './subject.mjs'

const subject = subjectOf(readFileSync(process.argv[2], 'utf8'))
// Git itself refuses a message without a subject
const problems = subject ? problemsOf(subject) : []
if (problems.length > 0) {
  console.error(`commit-msg: the subject cannot stay like this: ${subject}`)
  for (const problem of problems) console.error(`  ${problem}`)
  process.exitCode = 1
}
