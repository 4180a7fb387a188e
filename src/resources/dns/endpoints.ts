import { applyMailProvider } from './apply-provider.ts'
import { createRecord } from './create-record.ts'
import { deleteRecord } from './delete-record.ts'
import { getZone } from './get-zone.ts'
import { listZones } from './list-zones.ts'

/** In the order of the description of the API. */
export const endpoints = [listZones, getZone, createRecord, deleteRecord, applyMailProvider]
