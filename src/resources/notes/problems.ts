import { declareProblems } from '../../platform/http/problem.ts'

/** Errors that clients get from the rules of this resource. */
export const problems = declareProblems({
  note_limit_reached: {
    status: 400,
    text: 'A site can have {notes} notes with {megabytes} MB in total. Delete notes first.',
    remedy: 'Delete notes of the site that you no longer need.',
  },
})
