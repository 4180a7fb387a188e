import { declareProblems } from '../../platform/http/problem.ts'

/** Errors that clients get from the rules of this resource. */
export const problems = declareProblems({
  plugins_refused: {
    status: 400,
    text: 'plugins: {faults}.',
    remedy:
      'Correct the named plugins. Nothing was changed. `path` is the slug of a plugin in the WordPress plugin directory (`akismet`) or the https URL of a zip file.',
  },
  plugin_directory_unavailable: {
    status: 503,
    text: 'Stead cannot reach the plugin directory: {reason}. Try again later.',
    remedy: 'Try again later. Nothing was changed. You can also send the https URL of a zip file as `path`.',
  },
})
