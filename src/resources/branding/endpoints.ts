import { getBrandLogo } from './get-brand-logo.ts'
import { getBranding } from './get-branding.ts'
import { getBrandingLogo } from './get-branding-logo.ts'
import { updateBranding } from './update-branding.ts'

/** Additions of Stead. */
export const endpoints = [getBranding, updateBranding, getBrandingLogo, getBrandLogo]
