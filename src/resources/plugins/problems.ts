import { declareProblems } from '../../platform/http/problem.ts'

/** What can go wrong for a client by the rules of this resource. */
export const problems = declareProblems({
  plugins_refused: {
    status: 400,
    text: 'plugins: {faults}.',
    remedy:
      'Correct those that are named; nothing was changed. `path` is the slug of a plugin in the directory of WordPress (`akismet`), or the https address of a zip file.',
  },
  plugin_directory_unavailable: {
    status: 503,
    text: 'The plugin directory cannot be asked now: {reason}.',
    remedy: 'Try again later; nothing was changed. Or give the https address of a zip file as `path`.',
  },
})
