import { declareProblems } from '../../platform/http/problem.ts'

/** What can go wrong for a client by the rules of this resource. */
export const problems = declareProblems({
  note_limit_reached: {
    status: 400,
    text: 'A site may have {notes} notes, which may have {megabytes} MB together. Delete notes first.',
    remedy: 'Delete notes of the site that are no longer needed.',
  },
})
