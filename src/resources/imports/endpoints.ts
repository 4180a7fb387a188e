import { createImport } from './create-import.ts'
import { deleteImport } from './delete-import.ts'
import { fetchImport } from './fetch-import.ts'
import { getImport } from './get-import.ts'
import { getImportPlugin } from './get-import-plugin.ts'
import { listImports } from './list-imports.ts'
import { startImport } from './start-import.ts'
import { uploadImport } from './upload-import.ts'

/** In the order of the API description. */
export const endpoints = [
  listImports,
  createImport,
  getImport,
  uploadImport,
  getImportPlugin,
  fetchImport,
  startImport,
  deleteImport,
]
