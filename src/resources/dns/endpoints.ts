import { getSsl } from './get-ssl.ts'
import { getZone } from './get-zone.ts'
import { listZones } from './list-zones.ts'
import { applyMailProvider } from './records/apply-provider.ts'
import { createRecord } from './records/create-record.ts'
import { deleteRecord } from './records/delete-record.ts'
import { retrySsl } from './retry-ssl.ts'
import { exportZone } from './zone-files/export-zone.ts'
import { importZone } from './zone-files/import-zone.ts'
import { previewZoneFile } from './zone-files/preview-zone-file.ts'

/** In the order of the API description. */
export const endpoints = [
  listZones,
  getZone,
  createRecord,
  deleteRecord,
  applyMailProvider,
  getSsl,
  retrySsl,
  exportZone,
  importZone,
  previewZoneFile,
]
