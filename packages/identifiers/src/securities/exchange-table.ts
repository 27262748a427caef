/**
 * The codes and names of the world's main venues, one venue a line. Within a country the primary venue comes first. Values in one
 * column are separated by spaces, and "-" stands for none. `Exchange` in exchanges.ts describes the columns.
 */
export const EXCHANGE_TABLE = `
MIC  | Code          | Name                              | Country | Yahoo | Reuters | Bloomberg   | Prefixes                                      | Other MICs                    | Tickers
# North America
XNAS | NASDAQ        | Nasdaq Stock Market               | US      | -     | O OQ    | UW UQ UR US | NASDAQGS NASDAQGM NASDAQCM NMS NGM NCM NSQ    | XNGS XNMS XNCM                | -
XNYS | NYSE          | New York Stock Exchange           | US      | -     | N       | UN US       | NYQ                                           | -                             | -
XASE | NYSE American | NYSE American                     | US      | -     | -       | UA US       | AMEX NYSEMKT ASE                              | -                             | -
ARCX | NYSE Arca     | NYSE Arca                         | US      | -     | -       | UP US       | ARCA PCX NYSEARCA                             | -                             | -
BATS | Cboe BZX      | Cboe BZX U.S. Equities Exchange   | US      | -     | -       | UF US       | CBOE BTS                                      | -                             | -
OTCM | OTC           | OTC Markets                       | US      | -     | PK      | UV UU US    | OTCMKTS OTCQX OTCQB OTCPK PNK PINK PINKSHEETS | PINX OTCB OTCQ XOTC EXPM PSGM | -
XTSE | TSX           | Toronto Stock Exchange            | CA      | TO    | -       | CT CN       | TSE TOR                                       | -                             | -
XTSX | TSXV          | TSX Venture Exchange              | CA      | V     | -       | CV CN       | CVE VAN TSXVENTURE                            | -                             | -
XCNQ | CSE           | Canadian Securities Exchange      | CA      | CN    | -       | CN          | CNSX CNQ                                      | -                             | -
NEOE | NEO           | Cboe Canada                       | CA      | NE    | -       | CN          | CBOECANADA                                    | -                             | -
XMEX | BMV           | Bolsa Mexicana de Valores         | MX      | MX    | -       | MM          | MEX                                           | -                             | seriesWithoutSign
# South America
BVMF | B3            | B3 (Brasil, Bolsa, Balcão)        | BR      | SA    | -       | BS BZ       | BOVESPA BMFBOVESPA SAO                        | XBSP                          | -
XBUE | BCBA          | Bolsa de Comercio de Buenos Aires | AR      | BA    | -       | AF AR       | BYMA BUE                                      | -                             | -
XSGO | BCS           | Bolsa de Santiago                 | CL      | SN    | -       | CC CI       | SGO                                           | -                             | -
XBOG | BVC           | Bolsa de Valores de Colombia      | CO      | CL    | CN      | CB          | -                                             | -                             | -
XLIM | BVL           | Bolsa de Valores de Lima          | PE      | LM    | -       | PE          | -                                             | -                             | -
XCAR | BVCA          | Bolsa de Valores de Caracas       | VE      | CR    | -       | VS          | CCS                                           | -                             | -
# Germany, Austria, Switzerland
XETR | XETRA         | Xetra                             | DE      | DE    | -       | GY GR       | ETR GER XTRA                                  | XETA XETB                     | -
XFRA | FWB           | Börse Frankfurt                   | DE      | F     | -       | GF GR       | FRA FSE DB                                    | FRAA FRAB                     | ownTickers
XSTU | STU           | Börse Stuttgart                   | DE      | SG    | -       | GS GR       | SWB BST                                       | STUA STUB                     | ownTickers
XMUN | MUN           | Börse München                     | DE      | MU    | -       | GM GR       | -                                             | MUNA MUNB                     | ownTickers
XBER | BER           | Börse Berlin                      | DE      | BE    | -       | GB GR       | -                                             | BERA BERB                     | ownTickers
XDUS | DUS           | Börse Düsseldorf                  | DE      | DU    | -       | GD GR       | -                                             | DUSA DUSB                     | ownTickers
XHAM | HAM           | Börse Hamburg                     | DE      | HM    | -       | GH GR       | -                                             | HAMA HAMB                     | ownTickers
XHAN | HAN           | Börse Hannover                    | DE      | HA    | -       | GI GR       | -                                             | HANA HANB                     | ownTickers
XGAT | Tradegate     | Tradegate Exchange                | DE      | -     | -       | TH          | TDG                                           | TGAT                          | ownTickers
XWBO | VIE           | Wiener Börse                      | AT      | VI    | -       | AV          | WBAG                                          | WBAH WBDM                     | -
XSWX | SIX           | SIX Swiss Exchange                | CH      | SW    | S VX    | SE VX SW    | SWX VTX EBS                                   | XVTX                          | -
# Western and southern Europe
XLON | LSE           | London Stock Exchange             | GB      | L IL  | -       | LN LI       | LON AIM IOB LSIN                              | AIMX                          | -
NEXX | AQSE          | Aquis Stock Exchange              | GB      | AQ    | -       | PZ          | AQUIS AQS                                     | -                             | -
XDUB | ISE           | Euronext Dublin                   | IE      | IR    | I       | ID          | EURONEXTDUBLIN EURONEXT                       | XESM                          | -
XPAR | EPA           | Euronext Paris                    | FR      | PA    | -       | FP          | EURONEXTPARIS EURONEXT PAR ENXTPA             | ALXP XMLI                     | -
XAMS | AMS           | Euronext Amsterdam                | NL      | AS    | -       | NA          | EURONEXTAMSTERDAM EURONEXT ENXTAM AEX         | ALXA                          | -
XBRU | EBR           | Euronext Brussels                 | BE      | BR    | -       | BB          | EURONEXTBRUSSELS EURONEXT BRU ENXTBR          | ALXB MLXB                     | -
XLIS | ELI           | Euronext Lisbon                   | PT      | LS    | -       | PL          | EURONEXTLISBON EURONEXT LIS ENXTLS            | ALXL ENXL                     | -
XLUX | LuxSE         | Luxembourg Stock Exchange         | LU      | -     | -       | LX          | -                                             | -                             | -
XMIL | BIT           | Borsa Italiana                    | IT      | MI    | -       | IM          | EURONEXTMILAN EURONEXT MIL                    | MTAA EXGM BGEM                | -
ETLX | EuroTLX       | Euronext EuroTLX                  | IT      | TI    | -       | -           | TLX TLO                                       | -                             | ownTickers
XMAD | BME           | Bolsa de Madrid                   | ES      | MC    | -       | SQ SM       | MCE MAD                                       | BMEX XMCE MABX GROW           | -
XATH | ATHEX         | Athens Stock Exchange             | GR      | AT    | -       | GA          | ATH ATSE                                      | ASEX                          | -
XCYS | CYS           | Cyprus Stock Exchange             | CY      | -     | -       | CY          | -                                             | -                             | -
# Northern Europe
XSTO | STO           | Nasdaq Stockholm                  | SE      | ST    | -       | SS          | OMXSTO NASDAQSTOCKHOLM OM                     | FNSE                          | -
XCSE | CPH           | Nasdaq Copenhagen                 | DK      | CO    | -       | DC          | OMXCOP NASDAQCOPENHAGEN CPSE                  | FNDK                          | -
XHEL | HEL           | Nasdaq Helsinki                   | FI      | HE    | -       | FH          | OMXHEX NASDAQHELSINKI HLSE HEX                | FNFI                          | -
XICE | ICE           | Nasdaq Iceland                    | IS      | IC    | -       | IR          | OMXICE NASDAQICELAND                          | FNIS                          | -
XOSL | OSE           | Oslo Børs                         | NO      | OL    | -       | NO          | OSL EURONEXTOSLO EURONEXT OB                  | XOAS MERK                     | -
XTAL | TAL           | Nasdaq Tallinn                    | EE      | TL    | -       | ET          | OMXTSE NASDAQTALLINN                          | -                             | -
XRIS | RSE           | Nasdaq Riga                       | LV      | RG    | RI      | LR          | OMXRSE NASDAQRIGA RIS                         | -                             | -
XLIT | VSE           | Nasdaq Vilnius                    | LT      | VS    | VL      | LH          | OMXVSE NASDAQVILNIUS LIT                      | -                             | -
# Central and eastern Europe
XWAR | GPW           | Warsaw Stock Exchange             | PL      | WA    | -       | PW          | WSE                                           | XNCO                          | -
XPRA | PSE           | Prague Stock Exchange             | CZ      | PR    | -       | CP          | PRA PSECZ                                     | -                             | -
XBUD | BET           | Budapest Stock Exchange           | HU      | BD    | BU      | HB          | BUD BUSE                                      | -                             | -
XBSE | BVB           | Bucharest Stock Exchange          | RO      | RO    | BX      | RO          | -                                             | -                             | -
XBUL | BSE Sofia     | Bulgarian Stock Exchange          | BG      | -     | BB      | BU          | SOFIA                                         | -                             | -
XZAG | ZSE           | Zagreb Stock Exchange             | HR      | -     | ZA      | CZ          | ZAGREB                                        | -                             | -
XLJU | LJSE          | Ljubljana Stock Exchange          | SI      | -     | LJ      | SV          | -                                             | -                             | -
MISX | MOEX          | Moscow Exchange                   | RU      | ME    | MM      | RX RM       | MCX MOSCOW RUS                                | -                             | -
XIST | BIST          | Borsa İstanbul                    | TR      | IS    | -       | TI          | IST IBSE                                      | -                             | -
# Middle East and Africa
XTAE | TASE          | Tel Aviv Stock Exchange           | IL      | TA    | -       | IT          | TLV                                           | -                             | -
XSAU | TADAWUL       | Saudi Exchange                    | SA      | SR    | SE      | AB          | SAU SASE                                      | -                             | -
XDFM | DFM           | Dubai Financial Market            | AE      | AE    | DU      | DU UH       | -                                             | -                             | -
XADS | ADX           | Abu Dhabi Securities Exchange     | AE      | -     | AD      | DH UH       | -                                             | -                             | -
DSMD | QSE           | Qatar Stock Exchange              | QA      | QA    | -       | QD          | DOH                                           | -                             | -
XKUW | KSE           | Boursa Kuwait                     | KW      | KW    | -       | KK          | KUW                                           | -                             | -
XBAH | BHB           | Bahrain Bourse                    | BH      | -     | BH      | BI          | BAHRAIN                                       | -                             | -
XMUS | MSX           | Muscat Stock Exchange             | OM      | -     | OM      | OM          | -                                             | -                             | -
XAMM | ASE           | Amman Stock Exchange              | JO      | -     | AM      | JR          | -                                             | -                             | -
XCAI | EGX           | The Egyptian Exchange             | EG      | CA    | -       | EY          | CAI                                           | -                             | -
XCAS | CSEMA         | Casablanca Stock Exchange         | MA      | -     | CS      | MC          | -                                             | -                             | -
XNSA | NGX           | Nigerian Exchange                 | NG      | -     | LG      | NL          | NSENG                                         | -                             | -
XNAI | NSEKE         | Nairobi Securities Exchange       | KE      | -     | NR      | KN          | -                                             | -                             | -
XJSE | JSE           | Johannesburg Stock Exchange       | ZA      | JO    | J       | SJ          | JNB                                           | -                             | -
# Asia and the Pacific
XTKS | TSE           | Tokyo Stock Exchange              | JP      | T     | -       | JT JP       | TYO JPX                                       | XJPX XJAS                     | -
XNGO | NAG           | Nagoya Stock Exchange             | JP      | -     | NG      | JN JP       | -                                             | -                             | -
XFKA | FSE           | Fukuoka Stock Exchange            | JP      | -     | FU      | JF JP       | FKA                                           | -                             | -
XSAP | SAPSE         | Sapporo Securities Exchange       | JP      | -     | SP      | JS JP       | -                                             | -                             | -
XHKG | HKEX          | Stock Exchange of Hong Kong       | HK      | HK    | -       | HK          | SEHK HKG                                      | XGEM                          | digits=5 zerosLeftOff
XSHG | SSE           | Shanghai Stock Exchange           | CN      | SS SH | -       | CG CH       | SHA SHH SHSE                                  | -                             | digits=6
XSHE | SZSE          | Shenzhen Stock Exchange           | CN      | SZ    | -       | CS CH       | SHE SHZ                                       | -                             | digits=6
BJSE | BSE           | Beijing Stock Exchange            | CN      | BJ    | -       | CH          | BJ                                            | -                             | digits=6
XTAI | TWSE          | Taiwan Stock Exchange             | TW      | TW    | -       | TT          | TPE TAI                                       | -                             | digits=4
ROCO | TPEx          | Taipei Exchange                   | TW      | TWO   | -       | TT          | TWO                                           | -                             | digits=4
XKRX | KRX           | Korea Exchange                    | KR      | KS    | -       | KP KS       | KOSPI KSC KOSE                                | -                             | digits=6
XKOS | KOSDAQ        | Korea Exchange KOSDAQ             | KR      | KQ    | -       | KQ KS       | KRX KOE                                       | -                             | digits=6
XNSE | NSE           | National Stock Exchange of India  | IN      | NS    | -       | IS IN       | NSI NSEI                                      | -                             | -
XBOM | BSE           | BSE                               | IN      | BO    | -       | IB IN       | BOM                                           | -                             | -
XKAR | PSX           | Pakistan Stock Exchange           | PK      | KA    | -       | PA          | KAR                                           | -                             | -
XCOL | CSELK         | Colombo Stock Exchange            | LK      | -     | CM      | SL          | COL                                           | -                             | -
XDHA | DSEBD         | Dhaka Stock Exchange              | BD      | -     | DH      | BD          | -                                             | -                             | -
XSES | SGX           | Singapore Exchange                | SG      | SI    | -       | SP          | SES                                           | XSCA                          | -
XKLS | MYX           | Bursa Malaysia                    | MY      | KL    | -       | MK          | KLSE KLS                                      | -                             | digits=4
XBKK | SET           | Stock Exchange of Thailand        | TH      | BK    | -       | TB          | BKK                                           | XMAI                          | -
XIDX | IDX           | Indonesia Stock Exchange          | ID      | JK    | -       | IJ          | JKT                                           | -                             | -
XPHS | PSE           | Philippine Stock Exchange         | PH      | PS    | -       | PM          | PHS                                           | -                             | -
XSTC | HOSE          | Ho Chi Minh Stock Exchange        | VN      | VN    | HM      | VM VN       | HSX                                           | -                             | -
HSTC | HNX           | Hanoi Stock Exchange              | VN      | -     | HN      | VH VN       | -                                             | -                             | -
XASX | ASX           | Australian Securities Exchange    | AU      | AX    | -       | AT AU       | -                                             | -                             | -
XNZE | NZX           | New Zealand Exchange              | NZ      | NZ    | -       | NZ          | NZE NZSE                                      | -                             | -
`;
