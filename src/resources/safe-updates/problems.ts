import { declareProblems } from '../../platform/http/problem.ts'

/** Errors that clients get from the rules of this resource. */
export const problems = declareProblems({
  themes_refused: {
    status: 400,
    text: 'themes: {faults}.',
    remedy: 'Correct the named themes. Nothing was changed. `name` is the folder of an installed theme.',
  },
  core_refused: {
    status: 400,
    text: 'core: {fault}.',
    remedy: 'Send `latest`, or a newer stable release of WordPress. Nothing was changed.',
  },
  nothing_to_update: {
    status: 409,
    text: 'The site has nothing to update. WordPress knows of no newer versions.',
    remedy: 'Name the plugins or themes, with a version, or wait until WordPress has checked for updates.',
  },
  safe_update_in_progress: {
    status: 409,
    text: 'Operation {operation} already updates this site safely. Wait until it ends.',
    remedy: 'Wait for the operation that the text names, or cancel it.',
  },
  too_many_batches: {
    status: 409,
    text: '{limit} safe updates of many sites are in progress. Wait until one ends.',
    remedy: 'Wait, or cancel one of them.',
  },
})
