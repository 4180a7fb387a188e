import { updateCmsVersion } from './update-cms-version.ts'

/** In the order of the API description. */
export const endpoints = [updateCmsVersion]
