import Type from 'typebox'
import { Timestamp, timestamp } from '../../platform/http/schemas.ts'
import type { Application } from '../account/public.ts'

/** The most active applications of one account. */
export const MOST_APPLICATIONS = 100

export const applicationFields = {
  id: Type.Integer(),
  name: Type.String({ examples: ['Deploy bot'] }),
  client_id: Type.String({ examples: ['5b0c9f3a7d8e4c21b6f05a9d3e7c1f84'] }),
  owner: Type.Boolean({ description: 'Whether its tokens have the scope `owner`' }),
  created_at: Timestamp,
}

export const ApplicationSchema = Type.Object(applicationFields, { title: 'Application' })

export const presentApplication = (application: Application): Type.Static<typeof ApplicationSchema> => ({
  id: application.id,
  name: application.name,
  client_id: application.clientId,
  owner: application.isOwner,
  created_at: timestamp(application.createdAt),
})
