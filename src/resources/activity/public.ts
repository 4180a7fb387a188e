/** What other folders may import from this resource. */
export { EntrySchema, recentActivity } from './entry.ts'
export { ActivityFeed } from './feed.ts'
export { recordView } from './record-view.ts'
