import { randomBytes } from 'node:crypto';
import { GRPC_SERVICES } from './callers.ts';
import { AccountsAdminServiceService } from './gen/brand_data/v1/accounts.ts';
import { CatalogAdminServiceService } from './gen/brand_data/v1/catalog.ts';
import { DiagnosisAdminServiceService } from './gen/brand_data/v1/diagnosis.ts';
import { ImagesAdminServiceService } from './gen/brand_data/v1/images.ts';
import { MeteringAdminServiceService } from './gen/brand_data/v1/metering.ts';

/**
 * What an operator may do. `read`: look at everything, without any token. `keys`: also change plans, accounts and keys. `catalogue`:
 * also import, set and delete records and images. `all`: everything, also create operators.
 */
export const OPERATOR_ROLES = ['read', 'keys', 'catalogue', 'all'] as const;
export type OperatorRole = (typeof OPERATOR_ROLES)[number];

/** The role that each method needs. A method that is missing here does not compile. Every method beyond `read` is a change. */
type RoleByMethod<Definition> = { readonly [Method in keyof Definition]: OperatorRole };

const ACCOUNTS: RoleByMethod<typeof AccountsAdminServiceService> = {
  setPlan: 'keys',
  listPlans: 'read',
  createAccount: 'keys',
  // The signed limits of an account: whoever has them can repair its ledger.
  signAllowance: 'all',
  listAccounts: 'read',
  getAccount: 'read',
  setAccountPlan: 'keys',
  renameAccount: 'keys',
  closeAccount: 'keys',
  reopenAccount: 'keys',
  createKey: 'keys',
  updateKey: 'keys',
  rotateKey: 'keys',
  listKeys: 'read',
  revokeKey: 'keys',
  createOperator: 'all',
  listOperators: 'read',
  revokeOperator: 'all',
  // A pass says which role the operator has, and so gives nothing more.
  issuePass: 'read',
  listAudit: 'read',
  finishRestore: 'all',
};

const CATALOG: RoleByMethod<typeof CatalogAdminServiceService> = {
  putBrands: 'catalogue',
  putQuotes: 'catalogue',
  finishImport: 'catalogue',
  getBrand: 'read',
  deleteBrand: 'catalogue',
  setFields: 'catalogue',
  unsetFields: 'catalogue',
  listOverrides: 'read',
  listImagePaths: 'read',
  listLogoFiles: 'read',
  resolve: 'read',
  getStatistics: 'read',
  listBrands: 'read',
  exportCompanies: 'read',
  restoreCompanies: 'catalogue',
};

const METERING: RoleByMethod<typeof MeteringAdminServiceService> = {
  getUsage: 'read',
  listUsage: 'read',
  listLastCalls: 'read',
  repairLimits: 'all',
  listNotices: 'read',
  redeliverNotices: 'keys',
  testWebhook: 'keys',
  replayUsage: 'all',
};

const IMAGES: RoleByMethod<typeof ImagesAdminServiceService> = {
  putImage: 'catalogue',
  sweepImages: 'catalogue',
  countImages: 'read',
};

const DIAGNOSIS: RoleByMethod<typeof DiagnosisAdminServiceService> = { diagnose: 'read' };

/** Who may call which method of the admin ports. */
export const ADMIN_PORT = {
  /** What `bds doctor` asks. */
  diagnosis: GRPC_SERVICES.DiagnosisAdminService,
  /** By the path of the method: "/brand_data.v1.AccountsAdminService/CreateKey". */
  roleNeeded: new Map([
    ...rolesByPath(AccountsAdminServiceService, ACCOUNTS),
    ...rolesByPath(CatalogAdminServiceService, CATALOG),
    ...rolesByPath(MeteringAdminServiceService, METERING),
    ...rolesByPath(ImagesAdminServiceService, IMAGES),
    ...rolesByPath(DiagnosisAdminServiceService, DIAGNOSIS),
  ]) as ReadonlyMap<string, OperatorRole>,
  mayCall: (role: string, needed: string): boolean => role === 'all' || needed === 'read' || role === needed,
};

function rolesByPath<Definition extends { readonly [Method in keyof Definition]: { path: string } }>(
  definition: Definition,
  roles: RoleByMethod<Definition>,
): [string, OperatorRole][] {
  return (Object.keys(definition) as (keyof Definition)[]).map((method) => [
    definition[method].path,
    roles[method],
  ]);
}

export function isOperatorRole(text: string): text is OperatorRole {
  return (OPERATOR_ROLES as readonly string[]).includes(text);
}

/** The services to which accounts gives operators passes. */
export const PASS_SERVICES = ['catalog', 'metering', 'images'] as const;

const PREFIX = 'bdsop_';
const RANDOM_BYTES = 24;

/** Returns a new credential of an operator, which is impossible to guess. Its prefix lets scanners of leaked secrets find it. */
export function createOperatorCredential(): string {
  return PREFIX + randomBytes(RANDOM_BYTES).toString('base64url');
}

/** Whether the text has the form of an operator's own credential, unlike the installation's operator token. */
export function isOperatorCredential(text: string): boolean {
  return /^bdsop_[\w-]{32}$/.test(text);
}
