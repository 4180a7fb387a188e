import { declareActions } from '../kit/action.ts'

/** What the activity log says of commands. */
export const actions = declareActions('site', {
  'wp_cli.ran': 'A WP-CLI command was run over SSH. The same command is logged once a minute',
})
