/** What other folders may import from this resource. */
export { EntrySchema, recentActivity } from './activity-entry.ts'
export { ActivityFeed } from './activity-feed.ts'
export { recordView } from './record-view.ts'
