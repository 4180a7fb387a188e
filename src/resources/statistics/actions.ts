import { declareActions } from '../kit/action.ts'

/** Activity log entries for reads of statistics. */
export const actions = declareActions('site', {
  'report.page_views': 'Page views of a site were read',
  'report.space_usage': 'Disk use of a site was read',
})
