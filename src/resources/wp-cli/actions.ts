import { declareActions } from '../kit/action.ts'

/** Activity log entries for commands. */
export const actions = declareActions('site', {
  'wp_cli.ran': 'A WP-CLI command was run over SSH. The same command is logged once a minute',
})
