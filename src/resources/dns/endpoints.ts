import { applyMailProvider } from './apply-provider.ts'
import { createRecord } from './create-record.ts'
import { deleteRecord } from './delete-record.ts'
import { exportZone } from './export-zone.ts'
import { getZone } from './get-zone.ts'
import { importZone } from './import-zone.ts'
import { listZones } from './list-zones.ts'

/** In the order of the description of the API. */
export const endpoints = [listZones, getZone, createRecord, deleteRecord, applyMailProvider, exportZone, importZone]
