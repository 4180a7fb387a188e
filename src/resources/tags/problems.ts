import { declareProblems } from '../../platform/http/problem.ts'

/** Errors that clients get from the rules of this resource. */
export const problems = declareProblems({
  tag_limit_reached: {
    status: 400,
    text: 'tag_names: an account can have {ofAccount} tags, and {ofSite} of them on one site. Remove tags first.',
    remedy: 'Remove tags from sites. Stead deletes a tag when no site has it.',
  },
})
