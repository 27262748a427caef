/**
 * Legal forms of companies in the main jurisdictions, as they are written there. Case and punctuation are ignored ("S.A." is
 * "SA"). The list omits "Holdings" and "Group", because they distinguish companies. It also omits forms that are words or parts
 * of names ("Chartered", "Partners"), because without them two companies could have the same name.
 */

/** Forms after the name. Several may follow each other, also after "&" or "and": "GmbH & Co. KG", "Co., Ltd.". */
export const TRAILING_FORMS: readonly string[] = formsOf({
  'English-speaking countries': `
    Inc, Incorporated, Corp, Corporation, Co, Company, Ltd, Limited, Unltd, LLC, Limited Liability Company,
    LLP, LLLP, Limited Liability Partnership, LP, Limited Partnership, PLC, Public Limited Company, PLLC, PBC,
    Public Benefit Corporation, ULC, DAC, Designated Activity Company, Pty, Pty Ltd, Pty Limited,
    Proprietary Limited, SOC Ltd, Pte, Pte Ltd, Pte Limited, Pvt Ltd, Pvt Limited, Private Limited, (P) Ltd, The`,
  'Germany, Austria, Switzerland, the European company': `
    SE, Societas Europaea, AG, Aktiengesellschaft, GmbH, gGmbH, mbH, GesmbH, Ges.m.b.H., KG, OHG, GbR, KGaA,
    KG a.A., Gesellschaft mit beschränkter Haftung, Kommanditgesellschaft, Kommanditgesellschaft auf Aktien,
    UG, UG (haftungsbeschränkt)`,
  'France, Belgium, Luxembourg, Quebec': `
    SA, Société Anonyme, SAS, SASU, Société par actions simplifiée, SARL, S.à r.l., EURL, SCA, SNC, Cie,
    Société à responsabilité limitée, Société européenne, SPRL, SCRL, Ltée, Limitée`,
  'The Netherlands, Flanders': 'NV, Naamloze Vennootschap, BV, Besloten Vennootschap, BVBA, CVBA, VOF',
  Italy: 'Società per Azioni, Srl, S.r.l.s., Società a responsabilità limitata, SApA, Scarl, ScpA',
  'Spain, Portugal, Latin America': `
    SL, SLU, SAU, Sociedad Anónima, Sociedad Limitada, Ltda, Limitada, Lda, Unipessoal Lda, SGPS,
    Sociedade Anônima, EIRELI, SA de CV, SAB de CV, SAPI de CV, S de RL de CV, SA ESP, SAA,
    Sociedad Anónima de Capital Variable, Sociedad Anónima Bursátil de Capital Variable`,
  'The Nordic and Baltic countries': `
    AB, Aktiebolag, Aktiebolaget, (publ), ASA, ApS, Aktieselskab, Aksjeselskap, Allmennaksjeselskap, Oy, Oyj,
    Oy Ab, Abp, Osakeyhtiö, Julkinen osakeyhtiö, hf, ehf, UAB`,
  'Central Europe, the Balkans, Greece': `
    Sp. z o.o., Sp. z oo, Spółka z ograniczoną odpowiedzialnością, Spółka Akcyjna, Sp. k., s.r.o., spol. s r.o.,
    akciová společnost, Kft, Zrt, Nyrt, Részvénytársaság, j.d.o.o., OOD, EOOD, EAD, ООД, ЕООД, АД, ЕАД,
    ΑΕ, Α.Ε., ΕΠΕ, Ε.Π.Ε.`,
  'Russia, Ukraine, Kazakhstan': `
    JSC, PJSC, OJSC, CJSC, Joint Stock Company, Public Joint Stock Company, АО, ПАО, ОАО, ЗАО, ООО, НАО, ТОО,
    Акционерное общество, Публичное акционерное общество, Общество с ограниченной ответственностью,
    ТОВ, ПАТ, ПрАТ, АТ`,
  'Turkey, the Middle East': `
    Anonim Şirketi, Limited Şirketi, Ltd. Şti., T.A.Ş., בע"מ, ش.م.ع, ش.م.ك, SAE, SAOG, QPSC, QSC, KSC, KSCP, BSC,
    WLL, FZE, FZCO, FZ LLC`,
  Asia: `
    KK, Kabushiki Kaisha, Kabushiki Gaisha, GK, Godo Kaisha, YK, Yugen Kaisha, Bhd, Sdn Bhd, Berhad,
    Sendirian Berhad, Tbk, Tbk PT, (Persero) Tbk, (Persero) Tbk PT, (Persero), PCL, Public Company Limited,
    จำกัด, จำกัด (มหาชน), लिमिटेड, प्राइवेट लिमिटेड`,
});

/** The abbreviations of forms that are also written in full. */
export const ABBREVIATIONS_OF_FORMS: Readonly<Record<string, string>> = {
  Incorporated: 'Inc',
  Corporation: 'Corp',
  Company: 'Co',
  Limited: 'Ltd',
  'Co Limited': 'Co Ltd',
  'Company Limited': 'Co Ltd',
  'Public Limited Company': 'PLC',
  'Limited Liability Company': 'LLC',
  Aktiengesellschaft: 'AG',
  Kommanditgesellschaft: 'KG',
  'Kommanditgesellschaft auf Aktien': 'KGaA',
  'KG a.A.': 'KGaA',
  'Gesellschaft mit beschränkter Haftung': 'GmbH',
  'Société Anonyme': 'SA',
  'Sociedad Anónima': 'SA',
  'Naamloze Vennootschap': 'NV',
  'Società per Azioni': 'SpA',
  Aktiebolag: 'AB',
  Aktiebolaget: 'AB',
  'Kabushiki Kaisha': 'KK',
  'Kabushiki Gaisha': 'KK',
};

/** Forms before the name. */
export const LEADING_FORMS: readonly string[] = formsOf({
  English: 'The',
  'Russia, Ukraine, Kazakhstan': `
    JSC, PJSC, OJSC, CJSC, Public Joint Stock Company, Joint Stock Company, АО, ПАО, ОАО, ЗАО, ООО, НАО, ТОО, ТОВ, ПАТ, ПрАТ,
    Акционерное общество, Публичное акционерное общество, Общество с ограниченной ответственностью`,
  'Thailand, Vietnam, Arabic': 'บริษัท, Công ty Cổ phần, Công ty TNHH, شركة',
});

/** Forms before or after the name, with or without a space. */
export const GLUED_FORMS: readonly string[] = formsOf({
  Japan: '株式会社, 株式會社, 有限会社, 合同会社, 合資会社, 合名会社',
  'China, Taiwan, Hong Kong': '股份有限公司, 有限责任公司, 有限責任公司, 有限公司',
  Korea: '주식회사, 유한회사, 유한책임회사',
});

/** East Asian abbreviations of forms. "㈱" is not listed, because compatibility decomposition turns it into "(株)". */
export const ABBREVIATED_FORMS: ReadonlyMap<string, string> = new Map([
  ['(株)', '株式会社'],
  ['(有)', '有限会社'],
  ['(주)', '주식회사'],
  ['(유)', '유한회사'],
]);

/**
 * Forms that are also words. The patterns match the name as it is written, because a day spa is not an S.p.A., and "Same As" is
 * not an A/S. In lower case without full stops, these words stay part of the name.
 */
export const TRAILING_FORMS_AS_WRITTEN: readonly string[] = [
  'S\\. ?[Pp]\\. ?A\\.?|s\\. ?p\\. ?a\\.?|SpA|SPA',
  'A/S|a/s|A\\. ?S\\.?|a\\. ?s\\.?|AS',
  'D\\. ?O\\. ?O\\.?|d\\. ?o\\. ?o\\.?|DOO',
  'D\\. ?D\\.?|d\\. ?d\\.?',
  'A\\. ?D\\.?|a\\. ?d\\.|AD',
  'S\\. ?A\\. ?L\\.?|SAL',
];
export const LEADING_FORMS_AS_WRITTEN: readonly string[] = ['PT\\.?'];

/**
 * Words for a group, a holding, a company and a corporation. They distinguish companies, so a name without them is a weaker match
 * than a name without its legal form. They may come before or after the name.
 */
export const GROUP_WORDS: readonly string[] = formsOf({
  English: `
    Group, Grp, Group of Companies, Groups, Holding, Holdings, Hldg, Hldgs, Company, Companies, Corporation, Corporations`,
  'German, Dutch': `
    Gruppe, Unternehmensgruppe, Konzern, Beteiligungen, Beteiligungs, Beteiligungsgesellschaft, Gesellschaft, Groep,
    Concern, Maatschappij`,
  French: `
    Groupe, Compagnie, Compagnie de, Compagnie des, Compagnie du, Compagnie d, Société, Société de, Société des,
    Société du, Corporation`,
  Italian: 'Gruppo, Compagnia, Società',
  'Spanish, Portuguese, Catalan': `
    Grupo, Grup, Compañía, Compañía de, Companhia, Companhia de, Cia, Corporación, Corporação, Sociedad, Sociedade`,
  'Nordic languages, Finnish': 'Gruppen, Koncern, Koncernen, Konsern, Konsernet, Konserni, Yhtiöt, Selskabet',
  'Turkish, Romanian': 'Grubu, Şirketler Grubu, Topluluğu, Şirketi, Grupul, Compania',
  'Polish, Czech, Slovak, South Slavic, Hungarian': `
    Grupa, Grupa Kapitałowa, Skupina, Spółka, Koncern, Társaság, Csoport, Vállalat`,
  'Russian, Ukrainian, Bulgarian': `
    Группа, Группа компаний, ГК, Холдинг, Компания, Корпорация, Концерн, Група, Компанія, Корпорація`,
  Greek: 'Όμιλος, Συμμετοχών, Εταιρεία, Εταιρία',
  'Hebrew, Arabic': 'קבוצת, קבוצה, אחזקות, החזקות, חברה, مجموعة, القابضة, قابضة, شركة',
  'Malay, Vietnamese, Thai, Hindi': `
    Kumpulan, Tập đoàn, กรุ๊ป, โฮลดิ้ง, โฮลดิ้งส์, समूह, ग्रुप, होल्डिंग्स, कंपनी`,
});

/** The same in scripts that are written without spaces, after the name with or without a space. */
export const GLUED_GROUP_WORDS: readonly string[] = formsOf({
  Japan: 'グループ, ホールディングス, ホールディング, コーポレーション, カンパニー, 持株会社',
  'China, Taiwan, Hong Kong': '集团, 集團, 控股, 公司',
  Korea: '그룹, 홀딩스, 지주, 지주회사',
});

/** Patterns that match the kind and class of a security at the end of a normal name. */
export const SHARE_SUFFIXES: readonly string[] = [
  'cl(?:ass)? [a-z]',
  'series [a-z] common stock',
  'common (?:stock|shares?)',
  'capital stock',
  '(?:ordinary|registered|bearer|preferred|preference|voting|non voting|subordinate voting) (?:stock|shares?)',
  '(?:(?:un)?sponsored )?(?:adr|gdr)s?',
  '(?:american|global) depositary (?:shares?|receipts?)',
];

function formsOf(byJurisdiction: Readonly<Record<string, string>>): string[] {
  return Object.values(byJurisdiction).flatMap((forms) => forms.split(',').map((form) => form.trim()));
}
