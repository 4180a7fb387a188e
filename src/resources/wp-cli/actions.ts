import { declareActions } from '../action.ts'

/** What the activity log says of commands. */
export const actions = declareActions('site', {
  'wp_cli.ran': 'A command of WP-CLI was run by SSH; the same again within a minute is told once',
})
