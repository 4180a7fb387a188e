import { applyMailProvider } from './apply-provider.ts'
import { createRecord } from './create-record.ts'
import { deleteRecord } from './delete-record.ts'
import { exportZone } from './export-zone.ts'
import { getSsl } from './get-ssl.ts'
import { getZone } from './get-zone.ts'
import { importZone } from './import-zone.ts'
import { listZones } from './list-zones.ts'
import { previewZoneFile } from './preview-zone-file.ts'
import { retrySsl } from './retry-ssl.ts'

/** In the order of the description of the API. */
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
